#include "whitebox/launch/epilogues.h"

#include <algorithm>

#include "ir/op_table.h"
#include "whitebox/constants/convolutions.h"

namespace perfc {
namespace {

constexpr std::uint32_t kNobody = 0xffffffffu, kSeveral = 0xfffffffeu;

double results(const Kernel& k) { return k.extents.m * k.extents.n * std::max(k.extents.products, 1.0); }

bool is_elementwise_kernel(const Kernel& k) {
  return k.kind == KernelKind::Vector && !k.ops.empty() && std::ranges::all_of(k.ops, [](OpId o) {
           const Category c = def(o).category;
           return (c == Category::Elementwise || c == Category::Activation) && o != op("copy");
         });
}

bool has_epilogue(const Kernel& k) {
  if (k.ops.empty() || k.traffic.state_weights > 0) return false;
  const Category c = def(k.ops.front()).category;
  return c == Category::MatMul || c == Category::Convolution;
}

bool is_convolution(const Kernel& k) { return def(k.ops.front()).category == Category::Convolution; }

/// TensorRT's kernels for depthwise convolutions and for images of a few channels compute ReLU alone (two engines of
/// YOLO: docs/whitebox.md, "TensorRT's engines").
bool takes_any_activation(const Kernel& product) {
  const Extents& e = product.extents;
  return !is_convolution(product) ||
         (product.kind != KernelKind::Depthwise && e.k > constants::kImageChannels * e.window);
}

bool in_fused_conv(const Kernel& k) {
  return std::ranges::all_of(k.ops, [](OpId o) { return def(o).session.in_fused_conv; });
}

/// The same on a CPU, where products take activations, too (gemm_activation_fusion.cc), and only convolutions in
/// blocks the other branch of a sum (nchwc_transformer.cc).
bool is_mlas_epilogue(const Kernel& product, const Kernel& k) {
  return std::ranges::all_of(k.ops, [&product](OpId o) {
    return def(o).mlas.in_conv && (o != op("add") || (is_convolution(product) && product.placement.blocked));
  });
}

class EpilogueFuser {
 public:
  EpilogueFuser(Epilogue epilogue, std::size_t first, KernelPlan& plan)
      : epilogue_(epilogue), first_(first), plan_(plan), reader_(plan.kernels.size(), kNobody),
        last_source_(plan.kernels.size(), kNobody), into_(plan.kernels.size(), kNobody) {
    for (const auto& [from, to] : plan_.edges) {
      if (to < first_) continue;
      reader_[from] = reader_[from] == kNobody || reader_[from] == to ? to : kSeveral;
      if (last_source_[to] == kNobody || from > last_source_[to]) last_source_[to] = from;
    }
  }

  void run() {
    for (std::uint32_t at = static_cast<std::uint32_t>(first_); at < plan_.kernels.size(); ++at) {
      if (last_source_[at] == kNobody) continue;
      const std::uint32_t product = home(last_source_[at]);
      // What stands between the product and this kernel is in the product already.
      if (reader_[last_source_[at]] == at && may_join(plan_.kernels[product], at)) {
        absorb(plan_.kernels[product], plan_.kernels[at]);
        into_[at] = product;
      }
    }
    drop_fused();
  }

 private:
  std::uint32_t home(std::uint32_t k) const { return into_[k] == kNobody ? k : into_[k]; }

  bool may_join(const Kernel& product, std::uint32_t at) const {
    const Kernel& k = plan_.kernels[at];
    if (!has_epilogue(product) || !is_elementwise_kernel(k) || product.repeat != k.repeat) return false;
    if (results(product) != results(k)) return false;
    if (epilogue_ == Epilogue::Mlas) return is_mlas_epilogue(product, k);
    if (epilogue_ == Epilogue::Pointwise) return takes_any_activation(product) || in_fused_conv(k);
    return is_convolution(product) && !product.half && ends_in_relu(at);
  }

  /// ReLU, with nothing between it and the convolution but what FusedConv computes (conv_activation_fusion.cc,
  /// conv_add_act_fusion.cc; the CUDA provider has it in float32).
  bool ends_in_relu(std::uint32_t at) const {
    for (; at < plan_.kernels.size(); at = reader_[at]) {
      const Kernel& k = plan_.kernels[at];
      if (!is_elementwise_kernel(k) || !in_fused_conv(k)) return false;
      if (k.ops.back() == op("nn.relu")) return true;
    }
    return false;
  }

  static void absorb(Kernel& product, const Kernel& k) {
    const double width = product.quantised == Quantised::Whole ? 1 : product.half ? 2 : 4;
    const double result = results(product) * width;
    product.traffic.epilogue_bytes += std::max(k.traffic.bytes - 2 * result, 0.0);
    product.work.flops += k.work.flops;
    product.ops.insert(product.ops.end(), k.ops.begin(), k.ops.end());
  }

  void drop_fused() {
    std::vector<std::uint32_t> index(plan_.kernels.size());
    std::uint32_t next = 0;
    for (std::uint32_t k = 0; k < plan_.kernels.size(); ++k) {
      index[k] = next;
      if (into_[k] != kNobody) continue;
      if (next != k) plan_.kernels[next] = std::move(plan_.kernels[k]);
      ++next;
    }
    plan_.kernels.resize(next);
    for (auto& [from, to] : plan_.edges) {
      from = index[home(from)];
      to = index[home(to)];
    }
    std::erase_if(plan_.edges, [](const auto& e) { return e.first == e.second; });
  }

  const Epilogue epilogue_;
  const std::size_t first_;
  KernelPlan& plan_;
  std::vector<std::uint32_t> reader_;       ///< by kernel: the only one that reads it
  std::vector<std::uint32_t> last_source_;  ///< by kernel: the last written of those that it reads
  std::vector<std::uint32_t> into_;         ///< by kernel: the product that computes it
};

}  // namespace

void fuse_epilogues(Epilogue epilogue, std::size_t first, KernelPlan& plan) {
  if (epilogue != Epilogue::Bias) EpilogueFuser(epilogue, first, plan).run();
}

}  // namespace perfc
