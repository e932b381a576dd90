#include "whitebox/launch/framework.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ir/eager_marks.h"
#include "whitebox/constants/attention.h"
#include "whitebox/constants/compiled.h"
#include "whitebox/constants/depthwise.h"
#include "whitebox/constants/layouts.h"
#include "whitebox/constants/units.h"

namespace perfc {

namespace {

/// Whether heads share keys and values without being grouped.
bool broadcasts_heads(const Type& q, const Type& v) {
  return v.rank() != q.rank() || v.shape()[0] != q.shape()[0] || v.shape()[1] != q.shape()[1];
}

/// Heads of whole vectors of 16 bytes, as memory-efficient attention takes them on SM 8.0 and later
/// (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp, minimum_gemm_alignment). Flash attention, which is of 16 bits
/// and takes neither masks nor values of another width, takes any: they are padded first.
bool heads_fit(const Node& n, const Type& q, const Type& v, bool half) {
  if (half && !is_masked_attention(n) && q.shape().back() == v.shape().back()) return true;
  const std::int64_t vector = half ? 8 : 4;
  return q.shape().back().value() % vector == 0 && v.shape().back().value() % vector == 0;
}

}  // namespace

bool is_view(const Node& n) {
  const Launch launch = def(n.op).runs.launch;
  return launch == Launch::View || launch == Launch::ViewIfContiguous;
}

OpId kernel_op(const Node& n) {
  const OpId other = def(n.op).kernel;
  return other ? other : n.op;
}

bool uses_matrix_unit(OpId o) {
  return def(o).runs.autocast == Autocast::Half && def(o).category != Category::Activation;
}
bool is_float32_norm(const Node& n) { return def(n.op).runs.autocast == Autocast::Float32Norm; }
bool is_row_norm(const Node& n) { return def(n.op).runs.keeps == Keeps::FirstAndRows; }
ValueId biased_product(const Graph& g, const Node& n) {
  ValueId x = n.operands[0];
  while (g.node(x).is(op("reshape"))) x = g.node(x).operands[0];  // Keras flattens around its products
  return x;
}
bool is_epilogue(const Graph& g, const Node& n) {
  return n.is(op("nn.bias_add")) && g.node(biased_product(g, n)).is(op("nn.dense"));
}

double unasked_bytes(const Node& n) {
  const Keeps keeps = def(n.op).runs.keeps;
  const bool writes_mask = keeps == Keeps::Mask && n.results.size() == 1;  // else it is the second result
  const double each = keeps == Keeps::FirstAndPositions ? constants::kIndexBytes
                      : writes_mask                     ? constants::kMaskBytes
                                                        : 0;
  return each * static_cast<double>(n.results[0].type.elements().value_or(0));
}

bool is_window(const Node& n) { return def(n.op).runs.fusion == Fusion::Window; }

bool is_reduction(const Graph& g, const Node& n) {
  const Fusion fusion = def(n.op).runs.fusion;
  if (fusion != Fusion::AxisReduction) return fusion == Fusion::Reduction;
  const Type& t = g.type(n.operands[0]);
  if (!t.is_static() || !n.results[0].type.is_static() || t.rank() == 0) return true;
  if (def(n.op).category == Category::Reduction)
    return t.elements().value_or(0) / constants::kUnrolledReduction >= n.results[0].type.elements().value_or(0);
  const auto axis = normalized_axis(n.attrs.int_or("axis", -1), t.rank());
  return !axis || t.shape()[*axis].value() >= constants::kUnrolledReduction;
}

bool fuses(const Node& n) { return def(n.op).runs.fusion != Fusion::Never; }

namespace {

/// Windows along an axis, as importers write Tensor.unfold and im2col: rows and columns of indices in equal steps.
bool are_windows(const Graph& g, ValueId indices) {
  const Type& t = g.type(indices);
  const Data* data = g.data(indices);
  const auto* index = data && data->fully_known() ? data->ints() : nullptr;
  if (!index || !t.is_static() || t.rank() != 2) return false;
  const auto rows = static_cast<std::size_t>(t.shape()[0].value()),
             columns = static_cast<std::size_t>(t.shape()[1].value());
  if (rows == 0 || columns == 0 || index->size() != rows * columns) return false;
  if (std::ranges::any_of(*index, [](const SymInt& i) { return i.value() < 0 || i.value() > INT32_MAX; })) return false;
  const auto at = [&](std::size_t i, std::size_t j) { return (*index)[i * columns + j].value(); };
  const std::int64_t down = rows > 1 ? at(1, 0) - at(0, 0) : 0, right = columns > 1 ? at(0, 1) - at(0, 0) : 0;
  if (down < 0 || right < 0) return false;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (at(i, j) != at(0, 0) + static_cast<std::int64_t>(i) * down + static_cast<std::int64_t>(j) * right)
        return false;
    }
  }
  return true;
}

}  // namespace

bool is_select(const Graph& g, const Node& n) {
  return n.is(op("take")) && g.node(n.operands[1]).kind == NodeKind::Constant && g.type(n.operands[1]).elements() == 1;
}

bool is_strided_view(const Graph& g, const Node& n) {
  const Launch launch = def(n.op).runs.launch;
  if (launch != Launch::ViewByIndex) return launch == Launch::StridedView;
  if (is_select(g, n)) return true;
  return g.node(n.operands[1]).kind == NodeKind::Constant && g.node(n.operands[0]).kind != NodeKind::Constant &&
         are_windows(g, n.operands[1]);
}

bool is_any_view(const Graph& g, const Node& n) { return is_view(n) || is_strided_view(g, n); }

bool is_elementwise(const Node& n) {
  return def(n.op).category == Category::Elementwise || def(n.op).category == Category::Activation;
}

bool reflects(const Node& n) { return n.is(op("nn.pad")) && n.attrs.string_or("mode", "constant") == "reflect"; }

bool is_grouped_attention(const Graph& g, const Node& n) {
  if (!n.is(op("nn.attention")) || n.operands.size() > 4) return false;
  const Type &q = g.type(n.operands[0]), &k = g.type(n.operands[1]);
  return q.is_static() && k.is_static() && q.rank() == 4 && k.rank() == 4 && q.shape()[1] != k.shape()[1];
}

std::optional<WrittenOutAttention> written_out_attention(const Graph& g, NodeId id, const AttentionRun& run) {
  const Node& n = g.node(id);
  const bool grouped = is_grouped_attention(g, n);
  if (!n.is(op("nn.sdpa")) && (!grouped || (run.half && !is_masked_attention(n)))) return std::nullopt;
  const bool fused = n.attrs.int_or("explicit", 0) != 1;
  const Type &q = g.type(n.operands[0]), &v = g.type(n.operands[2]), &result = n.results[0].type;
  if (!q.is_static() || !v.is_static() || !result.is_static() || v.rank() < 2) return std::nullopt;
  if (fused && !grouped && q.rank() == 4 && run.reads_in_steps && !broadcasts_heads(q, v) &&
      heads_fit(n, q, v, run.half))
    return std::nullopt;
  const auto size = [](const Dim& d) { return static_cast<double>(d.value()); };
  const double head = size(q.shape().back()), value = size(v.shape().back()), keys = size(v.shape()[v.rank() - 2]);
  if (value == 0) return std::nullopt;
  WrittenOutAttention out;
  out.scores = static_cast<double>(*result.elements()) / value * keys;
  out.qk_macs = out.scores * head;
  out.av_macs = out.scores * value;
  out.reference = fused;
  out.repeats_heads = grouped;
  out.scales_scores = n.attrs.has("scaled");
  return out;
}

bool is_masked_attention(const Node& n) {
  const auto mask = static_cast<std::size_t>(def(n.op).mask);
  return mask > 0 && n.operands.size() == mask + 1 && n.operands[mask];
}

std::int64_t padded_head(std::int64_t channels) { return (channels + 7) / 8 * 8; }

bool pads_heads(const Graph& g, const Node& n, bool half) {
  if (!half || def(n.op).category != Category::Attention || is_masked_attention(n)) return false;
  const Type& q = g.type(n.operands[0]);
  return q.is_static() && q.rank() == 4 && n.attrs.int_or("explicit", 0) != 1 &&
         padded_head(q.shape().back().value()) != q.shape().back().value();
}

double attention_tile_share(const Graph& g, const Node& sdpa) {
  const Type &q = g.type(sdpa.operands[0]), &k = g.type(sdpa.operands[1]);
  if (!q.is_static() || !k.is_static() || q.rank() < 2 || k.rank() < 2) return 1;
  const auto share = [](const Dim& d, double tile) {
    const double extent = static_cast<double>(d.value());
    return extent > 0 ? extent / (std::ceil(extent / tile) * tile) : 1;
  };
  return share(q.shape()[q.rank() - 2], constants::kAttentionQueries) *
         share(k.shape()[k.rank() - 2], constants::kAttentionKeys) * share(q.shape().back(), constants::kAttentionHead);
}

double broadcast_copy(const Graph& g, const Node& n, std::size_t operand) {
  if (!n.is(op("nn.batch_matmul")) || operand > 1 || !n.operands[0] || !n.operands[1]) return 0;
  const Type &own = g.type(n.operands[operand]), &other = g.type(n.operands[1 - operand]), &result = n.results[0].type;
  // With a matrix on either side the other's batch dims fold into its rows.
  if (!own.is_static() || !other.is_static() || !result.is_static() || own.rank() < 3 || other.rank() < 3) return 0;
  const auto size = [](const Dim& d) { return static_cast<double>(d.value()); };
  const std::size_t batch_dims = result.rank() - 2, absent = result.rank() - own.rank();
  bool broadcast = false, kept = false;
  double batch = 1;
  for (std::size_t i = 0; i < batch_dims; ++i) {
    const double wanted = size(result.shape()[i]);
    if (wanted != 1) (i < absent || size(own.shape()[i - absent]) != wanted ? broadcast : kept) = true;
    batch *= wanted;
  }
  return broadcast && kept ? batch * size(own.shape()[own.rank() - 2]) * size(own.shape().back()) : 0;
}

bool writes_in_place(const Node& n) { return is_elementwise(n) && n.name.ends_with('_') && n.operands.size() >= 1; }

std::optional<std::size_t> part_written_in_place(const Node& n) {
  if (n.is(op("strided_set"))) return n.attrs.has(kInside) ? std::optional<std::size_t>(5) : std::nullopt;
  if (n.kind != NodeKind::Call || def(n.op).category != Category::Scatter) return std::nullopt;
  if (!n.attrs.has(kInside) && !n.name.ends_with('_')) return std::nullopt;
  return n.is(op("tensor_scatter")) ? 1 : 2;
}

std::optional<std::size_t> part_compiled_in_place(const Graph& g, const Node& n) {
  const auto part = part_written_in_place(n);
  if (!part || !n.is(op("strided_set"))) return part;
  return g.node(n.operands[0]).kind == NodeKind::Call ? std::nullopt : part;
}

bool on_matrix_units(const ConvolutionGroup& c) {
  const double width = std::min(c.inputs, c.outputs);
  return width >= 8 || (c.channels_last && width == 4);
}

bool has_own_kernel(double width) { return width >= 4 && std::has_single_bit(static_cast<std::uint64_t>(width)); }

bool wide_index(const Graph& g, const Node& n) {
  const auto wide = [](const Type& t) { return t.elements().value_or(0) >= constants::kWideIndexFrom; };
  return (!n.results.empty() && wide(n.results[0].type)) ||
         std::ranges::any_of(n.operands, [&](ValueId v) { return v && wide(g.type(v)); });
}

double index_slowdown(const Node& n, ExecMode mode) {
  if (def(n.op).category == Category::Convolution)
    return n.attrs.int_or("groups", 1) > 1 ? 1 : constants::kSplitConvolution;
  if (mode == ExecMode::Compiled) return fuses(n) ? constants::kWideCompiled : 1;
  return n.is(op("concatenate")) ? constants::kPartByPart : 1;
}

namespace {

/// Share of the peak that a kernel of so many clocks per result reaches: see vector_limit.
double limit_of(const constants::DepthwiseClocks& clocks, const ConvolutionGroup& c) {
  return c.window / clocks.per_result(c.window, c.has_strides) / constants::kLimitLanes;
}

double depthwise_limit(const ConvolutionGroup& c) {
  if (is_cudnn_depthwise(c)) return 0;
  return limit_of(depthwise_clocks(c, false), c);
}

}  // namespace

bool is_cudnn_depthwise(const ConvolutionGroup& c) {
  if (c.inputs != 1 || c.outputs != 1) return false;
  return c.channels_last ? c.window <= constants::kFallbackFrom && !c.wide_index
                         : c.window <= constants::kLargeWindow && c.float16;
}

const constants::DepthwiseClocks& depthwise_clocks(const ConvolutionGroup& c, bool generic32) {
  const bool generic = c.window > constants::kLargeWindow && (generic32 || !c.float32);
  return generic ? constants::kDepthwiseGeneric : constants::kDepthwiseOwn;
}

double vector_limit(const ConvolutionGroup& c) {
  const bool depthwise = c.inputs == 1 && c.outputs == 1;
  if (c.channels_last && c.wide_index) return constants::kWideFallback;
  if (c.channels_last && !(depthwise && c.window <= constants::kFallbackFrom)) return constants::kFallback;
  return c.inputs > 1 ? constants::kFewChannels : depthwise_limit(c);
}

double serial_steps(const Graph& g, NodeId id, bool channels_last) {
  const Node& n = g.node(id);
  const std::string_view mode = n.attrs.string_or("mode", "");
  if (n.is(op("image.grid_sample"))) {
    const Type& t = n.results[0].type;
    return t.is_static() && t.rank() > 1 ? static_cast<double>(t.shape()[1].value()) : 0;
  }
  if (channels_last || !n.is(op("image.resize2d")) || (mode != "linear" && mode != "cubic")) return 0;
  const Type& t = n.results[0].type;
  if (!t.is_static() || t.rank() != 4) return 0;
  return static_cast<double>(t.shape()[0].value()) * static_cast<double>(t.shape()[1].value());
}

}  // namespace perfc
