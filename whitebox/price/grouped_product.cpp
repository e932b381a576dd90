#include "whitebox/price/grouped_product.h"

#include <algorithm>

#include "whitebox/constants/products.h"
#include "whitebox/price/product_price.h"

namespace perfc {
namespace {

/// Rows that the tiles of a group hold, those that its last one leaves empty included.
double tiled_rows(const Kernel& k, const Rates& r) {
  const Extents& e = k.extents;
  if (k.pass == Pass::WeightGradient) return e.m;  // groups are parts of what is summed
  const bool small = e.m * e.products / e.groups <= constants::kSmallGroup || e.n <= constants::kSmallGroup ||
                     r.product[k.half]->chip == ChipClass::Blackwell;
  const double tile = k.limits.all_groups ? constants::kTunedGroupedTile
                      : small             ? constants::kSmallGroupedTile
                                          : constants::kGroupedTile;
  return std::max(tile, e.m + tile / 2);
}

/// All groups by one kernel, whose tiles lie within a group each.
Priced price_at_once(Kernel k, const Rates& r) {
  const double padded = tiled_rows(k, r);
  k.work.macs *= padded / k.extents.m;
  k.extents.m = padded;
  k.extents.groups = 0;
  if (!k.limits.all_groups) k.limits.slowdown *= constants::kGroupedTime;
  Priced out = price(k, r);
  const double first_us = k.limits.all_groups ? 0 : constants::kGroupedLaunchUs;
  out.launch_us += first_us;
  out.time_us += first_us;
  return out;
}

/// A group with rows.
Kernel one_group(Kernel k) {
  const double groups = k.extents.products;
  k.extents.products = 1;
  for (double* all :
       {&k.work.macs, &k.work.flops, &k.traffic.bytes, &k.traffic.handed_bytes, &k.traffic.epilogue_bytes})
    *all /= groups;
  return k;
}

Priced times(Priced p, double n) {
  for (double* us : {&p.compute_us, &p.memory_us, &p.exposed_us, &p.conversion_us, &p.launch_us, &p.serial_us,
                     &p.sustained_us, &p.time_us})
    *us *= n;
  return p;
}

}  // namespace

bool has_grouped_kernel(const Device& d, bool bfloat16) {
  const bool data_centre = d.memory_type == "hbm" && (d.architecture == "hopper" || d.architecture == "blackwell");
  return bfloat16 && (data_centre || d.architecture == "cdna3" || d.architecture == "cdna4");
}

bool is_grouped_product(const Kernel& k) { return k.kind == KernelKind::Matmul && k.extents.groups > 0; }

Priced price_grouped_product(const Kernel& k, const Rates& r) {
  Kernel whole = k;
  whole.extents.groups = 0;
  if ((r.grouped_kernel || k.limits.all_groups) && k.half && is_tiled_product(whole, r)) {
    whole.extents.groups = k.extents.groups;
    return price_at_once(whole, r);
  }
  return times(price(one_group(whole), r), k.extents.products);
}

HostCalls calls_of_groups(const KernelPlan& plan) {
  HostCalls out;
  for (const Kernel& k : plan.kernels) {
    if (!is_grouped_product(k)) continue;
    out.add(HostCall::Kernel, k.repeat);
    out.add(HostCall::Inner, k.repeat * k.extents.groups);
    out.add(HostCall::View, k.repeat * k.extents.groups * constants::kViewsOfGroup);
  }
  return out;
}

}  // namespace perfc
