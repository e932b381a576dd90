#pragma once
/// How many requests a model serves on a slice within its latency limit.
///
/// A server gathers requests into batches, of at most `batch`, and waits for more of them for at most the time that the
/// limit leaves (Triton's dynamic batcher: `max_queue_delay_microseconds`; Nexus, SOSP 2019, section 4: gathering and
/// running a batch have to fit into the limit together). Batches then wait for the device as in an M/D/1 queue, whose
/// mean wait at utilisation ρ and service time s is ρ s / (2 (1 − ρ)) (Pollaczek-Khinchine; Harchol-Balter,
/// "Performance Modeling and Design of Computer Systems", chapter 23). A batch that is not full is counted as a full
/// one, for that is what was predicted.
///
/// Under MPS the models of a slice share its multiprocessors: each batch is taken to last as many times longer as there
/// are models in the slice, as if all of them always had work, and their utilisations add up.
#include <optional>

namespace perfc {

/// What a model asks for.
struct ServiceDemand {
  double rate_per_s = 0;  ///< requests per second, a request being one sample; 0: any
  int batch = 1;          ///< of a full batch
  std::optional<double> max_latency_ms;
  int replicas = 1;  ///< slices at least
};

/// A model on one slice.
struct ServiceOnSlice {
  double batch_ms = 0;  ///< a full batch, alone on the slice
  double memory_mib = 0;
  double work_w = 0;  ///< power beyond idling while it runs
};

/// What its slices can be used for, at most.
struct ServiceLimits {
  double utilisation = 0.7;  ///< share of the time that a slice works
  double headroom = 0.05;    ///< share of a slice's memory kept free
};

/// The time that requests may wait for their batch, in ms: what the limit leaves beside a batch and its mean wait at
/// full utilisation. Negative: the limit cannot be met at all; infinite where there is none. `clients`: models in the
/// slice.
double gather_ms(const ServiceDemand&, const ServiceOnSlice&, int clients, const ServiceLimits&);
/// Requests per second that one slice serves within the limits, alone or beside `clients` − 1 others that leave it the
/// whole utilisation; 0: none.
double capacity_per_s(const ServiceDemand&, const ServiceOnSlice&, int clients, const ServiceLimits&);
/// Share of the time that the slice works at this rate.
double utilisation_at(double rate_per_s, const ServiceDemand&, const ServiceOnSlice&, int clients,
                      const ServiceLimits&);
/// What a request takes at this rate, in ms: until its batch is full or the gathering ends, the mean wait, the batch.
/// `utilisation`: the slice's, of all its models.
double request_ms(double rate_per_s, double utilisation, const ServiceDemand&, const ServiceOnSlice&, int clients,
                  const ServiceLimits&);

}  // namespace perfc
