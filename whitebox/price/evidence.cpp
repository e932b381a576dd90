#include "whitebox/price/evidence.h"

#include <cmath>
#include <set>
#include <string_view>

#include "whitebox/constants/runs.h"

namespace perfc {
namespace {

/// GPUs on whose like the models of memory-bound kernels were fitted.
bool is_measured_architecture(const Device& d) {
  static const std::set<std::string_view> all{"pascal", "volta", "turing", "ampere", "ada", "hopper", "blackwell"};
  return d.kind == "gpu" && all.contains(d.architecture);
}

Evidence evidence_of_products(const std::optional<ProductDevice>& product) {
  if (!product) return Evidence::None;
  // Another class' constants, but for a rate and a power
  static const std::set<ChipClass> kBorrowed{ChipClass::VectorHopper,   ChipClass::VectorAmpere, ChipClass::VectorAda,
                                             ChipClass::GraphicsAmpere, ChipClass::Turing,       ChipClass::Volta};
  const bool borrowed = kBorrowed.contains(product->chip);
  // What PyTorch chooses there takes up to twice as long as what a tuner finds, which is what was measured.
  if (is_cdna_half(product->chip)) return Evidence::None;
  const bool loose = product->chip == ChipClass::Cdna;  // beside siblings as far off as others beside strangers
  return borrowed || loose ? Evidence::Others : Evidence::Siblings;
}

PriceKind kind_of(const Kernel& k, bool on_vector) {
  if (k.traffic.state_weights > 0) return PriceKind::Recurrence;
  if (k.placement.rare) return PriceKind::RareConvolution;
  switch (k.kind) {
    case KernelKind::Matmul:
      if (!k.ops.empty() && def(k.ops.front()).category == Category::Attention) return PriceKind::Attention;
      return on_vector ? PriceKind::VectorProduct : PriceKind::Product;
    case KernelKind::Convolution:
      return on_vector ? PriceKind::VectorConvolution : PriceKind::Convolution;
    case KernelKind::Depthwise:
      return PriceKind::Depthwise;
    case KernelKind::Vector:
    case KernelKind::Gather:
      break;
  }
  return PriceKind::Memory;
}

/// Half the width, in ln: what a device adds, which all shapes share, and the mean of the shapes' own errors.
double width_of(const constants::KernelErrors& e, Evidence evidence) {
  const double error = evidence == Evidence::Siblings ? e.siblings : evidence == Evidence::Others ? e.others : e.none;
  const double device = std::sqrt(std::max(error * error - e.own * e.own, 0.0));
  const double percent = std::hypot(device, e.own / std::sqrt(constants::kShapesOfANetwork));
  return std::hypot(constants::kNinetyOfMape * percent / 100, constants::kNinetyOfDeviation * e.factor);
}

}  // namespace

KernelEvidence::KernelEvidence(const Device& d, const Rates& r) {
  for (int half = 0; half < 2; ++half) {
    of_.on_vector[half] = r.on_vector[half];
    of_.product[half] = evidence_of_products(r.product[half]);
  }
  of_.memory = is_measured_architecture(d) ? Evidence::Siblings : d.kind == "gpu" ? Evidence::Others : Evidence::None;
  // Kernels in 16 bits were measured on the classes of chips that a factor was learned on.
  of_.attention[0] = of_.memory;
  of_.attention[1] = r.attention.learned ? Evidence::Siblings : d.kind == "gpu" ? Evidence::Others : Evidence::None;
}

void KernelEvidence::add(const Kernel& k, double us) {
  const PriceKind kind = kind_of(k, of_.on_vector[k.half]);
  const Evidence evidence = k.state.kernels != StateKernels::None
                                ? Evidence::None  // few measured, and their shapes alike
                            : kind == PriceKind::Memory    ? of_.memory
                            : kind == PriceKind::Attention ? of_.attention[k.half]
                                                           : of_.product[k.half];
  us_[static_cast<std::size_t>(kind)][static_cast<std::size_t>(evidence)] += us;
}

double KernelEvidence::width() const {
  double all = 0, squares = 0;
  for (std::size_t kind = 0; kind < kPriceKinds; ++kind) {
    for (std::size_t e = 0; e < us_[kind].size(); ++e) {
      const double part = us_[kind][e] * std::expm1(width_of(constants::kKernelErrors[kind], static_cast<Evidence>(e)));
      squares += part * part;
      all += us_[kind][e];
    }
  }
  return all > 0 ? std::log1p(std::sqrt(squares) / all) : 0;
}

double remaining_width(int labels) {
  return std::sqrt(constants::kFittedConstants / (constants::kFittedConstants + static_cast<double>(labels)));
}

}  // namespace perfc
