#include "whitebox/price/grouped_product.h"

#include <algorithm>

#include "whitebox/constants/products.h"
#include "whitebox/price/product_price.h"

namespace perfc {
namespace {

/// A kernel of all groups, beside batched products of as many rows as its tiles have.
struct AllGroups {
  double tile = 0;      ///< rows
  double slowdown = 1;  ///< of its time
  double first_us = 0;  ///< before it
};

AllGroups kernel_of_all(const Kernel& k, const Rates& r) {
  if (k.limits.all_groups) return {.tile = constants::kTunedGroupedTile};
  const Extents& e = k.extents;
  const bool small = e.m * e.products / e.groups <= constants::kSmallGroup || e.n <= constants::kSmallGroup ||
                     r.product[k.half]->chip == ChipClass::Blackwell;
  return {.tile = small ? constants::kSmallGroupedTile : constants::kGroupedTile,
          .slowdown = constants::kGroupedTime,
          .first_us = constants::kGroupedLaunchUs};
}

/// All groups by one kernel, whose tiles lie within a group each: its last one is half empty in the mean.
Priced price_at_once(Kernel k, const Rates& r) {
  const AllGroups of = kernel_of_all(k, r);
  const bool inner = k.pass == Pass::WeightGradient;  // groups are parts of what is summed
  const double padded = inner ? k.extents.m : std::max(of.tile, k.extents.m + of.tile / 2);
  k.work.macs *= padded / k.extents.m;
  k.extents.m = padded;
  k.extents.groups = 0;
  k.limits.slowdown *= of.slowdown;
  Priced out = price(k, r);
  out.launch_us += of.first_us;
  out.time_us += of.first_us;
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
