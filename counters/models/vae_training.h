#pragma once
/// How the paper's model (`vae-dnn`) is trained: its σ-VAE, and the network behind it.
#include "counters/models/sigma_vae.h"
#include "gnn/trainer.h"

namespace perfc {

struct VaeTraining {
  KlAnnealing kl;
  /// Last share of the training in which the loss of a linear regression on the latent columns is fed back into
  /// the VAE; 0: never.
  double feedback = 0.25;
  /// Train on the workloads alone whose column `profiled` says this, then on all: the decoder's σ is
  /// calibrated on one kind of machine ("cpu") before another joins. Empty: on all at once.
  std::string calibrate_first;

  bool operator==(const VaeTraining&) const = default;
};

/// Initialises and trains the VAE on the rows' x; targets y are for the feedback. `first`: the rows to begin with,
/// without feedback; empty: all at once.
Status train_vae(SigmaVae<float>&, const RowTask::Rows&, std::span<const std::size_t> first, const VaeTraining&,
                 const Random&, Diagnostics&);

/// Of the VAE and of the networks of 3 × 1024: so many epochs, but no more than so many steps in all.
TrainOptions network_options(std::size_t rows, std::uint64_t epochs, std::uint64_t most_steps, const Random&);

}  // namespace perfc
