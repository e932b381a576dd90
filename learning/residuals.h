#pragma once
/// What the networks of "corrected" got wrong on graphs like this one: a Gaussian process on their residuals in
/// training, per execution mode; fitted, kept in a checkpoint, asked.
#include <array>
#include <functional>
#include <map>
#include <string>

#include "gnn/checkpoint.h"
#include "gnn/models/gaussian_process.h"
#include "ir/exec_mode.h"

namespace perfc {

/// In ln, by fingerprint, within an execution mode. A graph's is believed by the square of its similarity, so that a
/// family like no other is not corrected by its distant relatives.
struct Residuals {
  std::array<GaussianProcess, 2> of_mode;
  std::map<std::string, int> group;  ///< of a device

  struct Estimate {
    double log_factor = 0;
    double similarity = 0;  ///< to the nearest graph of training
  };
  /// `device`: "" or one without measurements: that of no group.
  Estimate at(std::span<const float> fingerprint, const std::string& device, ExecMode mode) const {
    return at(fingerprint, std::span(&device, 1), mode).front();
  }
  /// The same on several devices.
  std::vector<Estimate> at(std::span<const float> fingerprint, std::span<const std::string> devices, ExecMode) const;

  /// A run of training: its graph, its device's group, ln(measured / predicted).
  struct Run {
    std::span<const float> fingerprint;
    int group = GaussianProcess::kNoGroup;
    double log_error = 0;
  };
  /// `runs`: by mode; `columns`: of a fingerprint.
  static Result<Residuals> fit(const std::array<std::vector<Run>, 2>& runs, std::size_t columns,
                               std::map<std::string, int> groups, Random, ThreadPool&, Diagnostics&);

  /// Settings and tensors "residuals.*" of a checkpoint. Reading takes the tensors out of it.
  void write(Checkpoint&) const;
  static Result<Residuals> read(Checkpoint&, std::size_t columns, Diagnostics&);
};

/// How like training a graph is: bins of Residuals::Estimate::similarity with an interval each.
inline constexpr std::array<double, 2> kSimilarityBins{0.4, 0.8};
enum class SimilarityBin : unsigned char { Unlike, Related, Alike };
inline constexpr std::array<std::string_view, 3> kSimilarityBinNames{"unlike", "related", "alike"};
SimilarityBin similarity_bin(double similarity);
/// How far networks are believed of a graph, 0 to 1: in proportion to its similarity, up to where it is no longer
/// unlike those of training. Strangers are left to physics.
double belief_in_networks(double similarity);
/// How far corrections, the networks' and the residuals', count on a device that none of them saw: what they say of a
/// graph carries over, what they have of the devices in training does not. Chosen of 0, ¼, ½, ¾ and 1 on devices left
/// out (docs/judged.md).
inline constexpr double kBeliefElsewhere = 0.5;

}  // namespace perfc
