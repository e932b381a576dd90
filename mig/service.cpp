#include "mig/service.h"

#include <algorithm>
#include <limits>

namespace perfc {
namespace {

double wait_ms(double utilisation, double service_ms) { return utilisation * service_ms / (2 * (1 - utilisation)); }

/// Requests in a batch that gathers for `gather`.
double gathered(double rate_per_s, const ServiceDemand& d, double gather) {
  return std::min<double>(d.batch, 1 + rate_per_s * gather / 1e3);
}

}  // namespace

double gather_ms(const ServiceDemand& d, const ServiceOnSlice& on, int clients, const ServiceLimits& limits) {
  if (!d.max_latency_ms) return std::numeric_limits<double>::infinity();
  const double service = clients * on.batch_ms;
  return *d.max_latency_ms - service - wait_ms(limits.utilisation, service);
}

double capacity_per_s(const ServiceDemand& d, const ServiceOnSlice& on, int clients, const ServiceLimits& limits) {
  const double gather = gather_ms(d, on, clients, limits) / 1e3, service = on.batch_ms / 1e3;
  if (gather < 0 || !(service > 0)) return 0;
  // Utilisation at the rate x is x · service / min(batch, 1 + x · gather), which grows with x.
  const double full = limits.utilisation * d.batch / service;
  if (1 + full * gather >= d.batch) return full;
  return limits.utilisation / (service - limits.utilisation * gather);
}

double utilisation_at(double rate_per_s, const ServiceDemand& d, const ServiceOnSlice& on, int clients,
                      const ServiceLimits& limits) {
  if (!(rate_per_s > 0)) return 0;
  return rate_per_s * on.batch_ms / 1e3 / gathered(rate_per_s, d, std::max(0.0, gather_ms(d, on, clients, limits)));
}

double request_ms(double rate_per_s, double utilisation, const ServiceDemand& d, const ServiceOnSlice& on, int clients,
                  const ServiceLimits& limits) {
  const double service = clients * on.batch_ms;
  double gather = 0;
  if (d.batch > 1 && rate_per_s > 0)
    gather = std::min(std::max(0.0, gather_ms(d, on, clients, limits)), (d.batch - 1) / rate_per_s * 1e3);
  return gather + wait_ms(std::min(utilisation, limits.utilisation), service) + service;
}

}  // namespace perfc
