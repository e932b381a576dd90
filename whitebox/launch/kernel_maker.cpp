#include "whitebox/launch/kernel_maker.h"

#include <algorithm>
#include <cmath>

#include "whitebox/constants/kernels.h"
#include "whitebox/constants/linear_attention.h"
#include "whitebox/constants/memory_bound.h"
#include "whitebox/constants/quantised_products.h"
#include "whitebox/constants/recurrences.h"
#include "whitebox/launch/batch_norm.h"
#include "whitebox/launch/depthwise_blocks.h"
#include "whitebox/launch/einsum_product.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/geometry.h"
#include "whitebox/launch/norm_statistics.h"
#include "whitebox/launch/scan.h"

namespace perfc {
namespace {

/// `waits`: a Selection or a Scan, whose threads take steps one after the other.
void wait_for(const auto& waits, Kernel& k) {
  k.limits.serial_steps = waits.steps;
  k.limits.blocks = waits.blocks;
  k.limits.blocks_held = waits.blocks_held;
}

void be_scan(const Scan& s, double bytes, Kernel& k) {
  if (bytes > 0) k.limits.byte_clocks = s.clocks / bytes;
  wait_for(s, k);
}

bool is_gather(Category c) { return c == Category::Gather || c == Category::Scatter || c == Category::Sort; }

/// Data in floats, weights in 8 bits or fewer, packed or not.
bool has_narrow_weights(const PlannedGraph& of, const Node& n) {
  if (def(n.op).category != Category::MatMul || n.operands.size() < 2 || !n.operands[0] || !n.operands[1]) return false;
  const ValueId b = n.operands[1];
  return of.weight[b.node] && is_float(of.g.type(n.operands[0]).dtype()) && bits(of.g.type(b).dtype()) <= 8;
}

/// Of a recurrence's weights by its state, (directions, gates · units, units), the axes in either order.
struct Cell {
  double units = 0, gates = 0;
};
std::optional<Cell> cell_of(const Type& weights) {
  if (!weights.is_static() || weights.rank() != 3 || weights.elements() == 0) return std::nullopt;
  const std::int64_t rows = weights.shape()[1].value(), columns = weights.shape()[2].value();
  const auto units = static_cast<double>(std::min(rows, columns));
  return Cell{units, static_cast<double>(std::max(rows, columns)) / units};
}

/// Does a persistent kernel keep a recurrence's weights?
bool stays_in_multiprocessors(const Type& weights) {
  const auto cell = cell_of(weights);
  if (!cell || !is_float(weights.dtype())) return false;
  return cell->units <= (cell->gates == 1 ? constants::kResidentUnitsOfOneGate : constants::kResidentUnits);
}

/// Whether a gather along the first axis copies rows as vectorized_gather_kernel does (PyTorch 2.8 and later,
/// aten/src/ATen/native/cuda/IndexKernelUtils.h, fast_gather_kernel_eligible): not the few of indexSelectSmallIndex,
/// whose threads wait for each row. Other runtimes have no such kernel, and few rows are soon copied.
bool gathers_whole_rows(const PlannedGraph& of, const Node& n) {
  if (!n.is(op("take")) || n.operands.size() < 2 || n.attrs.int_or("axis", 0) != 0) return false;
  const Type &table = of.g.type(n.operands[0]), &indices = of.g.type(n.operands[1]);
  if (!table.is_static() || !indices.is_static() || table.rank() < 2 || table.elements() == 0) return false;
  const bool few = static_cast<double>(*indices.elements()) <= constants::kSmallGatherRows;
  if (!def(of.config.runtime).autocast) return few;
  if (few || of.config.mode != ExecMode::Eager) return false;
  const double row = *table.elements() / static_cast<double>(table.shape()[0].value());
  return std::fmod(row * of.widths.read_width(n.operands[0], n), constants::kVectorLoad) == 0;
}

}  // namespace

Kernel KernelMaker::empty(NodeId id) const {
  Kernel k;
  k.node = owner_ ? *owner_ : id;
  k.repeat = repeat_;
  return k;
}

Kernel KernelMaker::of(NodeId id, const OpCost& cost) const {
  const Node& n = of_.node(id);
  const Category c = def(n.op).category;
  Kernel k = empty(id);
  k.half = of_.widths.is_half(id);
  k.ops.push_back(kernel_op(n));
  k.work = {.macs = cost.macs, .flops = cost.flops};
  k.extents = extents_of(of_.g, id, cost.macs);
  k.placement.wide_index = wide_index(of_.g, n);
  if (k.placement.wide_index) k.limits.slowdown = index_slowdown(n, of_.config.mode);
  if (is_einsum_without_sum(of_.g, n)) {
    k.ops.back() = op("multiply");
    k.work = {.flops = cost.macs};
  } else if (n.is(op("nn.causal_conv"))) {
    k.limits.byte_clocks = constants::kCausalByteClocks;
  } else if (c == Category::Convolution && n.operands.size() > 1) {
    be_convolution(id, k);
  } else if (uses_matrix_unit(n.op)) {
    be_product(id, k);
  } else if (is_gather(c)) {
    k.kind = KernelKind::Gather;
    k.placement.whole_rows = gathers_whole_rows(of_, n);
    if (n.is(op("topk"))) wait_for(selection(id), k);
  } else if (of_.config.mode == ExecMode::Eager) {
    if (def(of_.config.runtime).autocast) k.limits.serial_steps = serial_steps(of_.g, id, of_.layout.channels_last[id]);
    if (def(n.op).scans && def(of_.config.runtime).autocast)
      be_scan(scan_of(of_, id), cost.bytes_read + cost.bytes_written, k);
    const bool rms = n.is(op("nn.rms_norm")) && def(of_.config.runtime).autocast;  // PyTorch's own kernel
    if (n.is(op("nn.layer_norm")) || rms) {
      k.extents = extents_of_rows(n, k.extents);
      k.limits.row_blocks = k.extents.m;
    }
    if (n.is(op("nn.batch_norm"))) limit_batch_norm(of_.config, n, of_.layout.channels_last[id], k);
  }
  return k;
}

double KernelMaker::bytes_of(NodeId id, const OpCost& cost) const {
  const Node& n = of_.node(id);
  double declared = 0, actual = 0;
  for (ValueId v : n.operands) {
    if (!v) continue;
    declared += of_.g.type(v).bytes();
    actual += of_.widths.bytes_read(v, n);
  }
  for (std::uint32_t r = 0; r < n.results.size(); ++r) {
    declared += n.results[r].type.bytes();
    actual += of_.widths.bytes_of({id, r});
  }
  const double width = declared > 0 ? actual / declared : 1.0;
  const double kept = part_written_in_place(n) ? of_.g.type(n.operands[0]).bytes() : 0;
  return std::max(cost.bytes_read + cost.bytes_written - 2 * kept, 0.0) * width;
}

Selection KernelMaker::selection(NodeId id) const {
  return selection_of(of_.g, id, of_.widths.read_width(of_.node(id).operands[0], of_.node(id)));
}

Quantised KernelMaker::eight_bits_of(NodeId id) const {
  if (!of_.widths.is_eight(id)) return Quantised::None;
  if (of_.config.precision == Precision::Fp8) return Quantised::Float8;
  return of_.widths.keeps_eight(id) ? Quantised::Whole : Quantised::Both;
}

void KernelMaker::be_convolution(NodeId id, Kernel& k) const {
  k.kind = KernelKind::Convolution;
  k.placement.aligned = channel_alignment(of_.g, of_.node(id));
  k.placement.channels_first = !of_.layout.channels_last[id];
  k.placement.rare = is_rare_convolution(of_.g, of_.node(id));
  k.quantised = eight_bits_of(id);
  if (of_.node(id).attrs.int_or("groups", 1) > 1) be_grouped(id, k);
}

void KernelMaker::be_grouped(NodeId id, Kernel& k) const {
  ConvolutionGroup group = convolution_group(of_.g, of_.node(id), k.extents.window, of_.layout.channels_last[id]);
  group.has_strides = k.extents.stride > 1;
  group.wide_index = k.placement.wide_index && of_.config.mode == ExecMode::Eager;
  group.float32 = !k.half;
  group.float16 = k.half && of_.config.precision != Precision::Bf16 && !quantises_layers(of_.config.precision);
  group.own_kernels = def(of_.config.runtime).own_layout;
  k.extents.channels_per_group = std::min(group.inputs, group.outputs);
  if (!k.half && k.extents.channels_per_group > 1) k.placement.rare = true;
  if (on_matrix_units(group)) return;
  k.kind = KernelKind::Depthwise;
  if (const auto of = depthwise_blocks(group, k.extents); of && k.quantised == Quantised::None) {
    k.limits.depthwise = *of;
  } else {
    k.limits.vector_share = vector_limit(group);
  }
}

void KernelMaker::be_product(NodeId id, Kernel& k) const {
  const Node& n = of_.node(id);
  k.kind = KernelKind::Matmul;
  k.quantised = eight_bits_of(id);
  const bool narrow = of_.widths.bits_of_second(id) > 0 || has_narrow_weights(of_, n);
  if (k.quantised == Quantised::None && narrow) k.quantised = Quantised::Weights;
  k.attention = attention_span(of_.g, id);
  k.attention.masked = is_masked_attention(n);
  k.attention.in_engine = def(of_.config.runtime).fuses_attention;
  if (n.is(op("nn.sdpa"))) k.limits.tile_share = attention_tile_share(of_.g, n);
  be_linear_attention(id, k);
  k.limits.all_groups = k.extents.groups > 0 && !def(of_.config.runtime).autocast;
  k.placement.aligned = row_alignment(of_.g.type(n.operands[0]));
  if (!n.results.empty()) k.placement.aligned = std::min(k.placement.aligned, row_alignment(n.results[0].type));
  if (k.attention.batch > 0 && pads_heads(of_.g, n, of_.widths.is_half(id))) {
    k.attention.channels = static_cast<double>(padded_head(static_cast<std::int64_t>(k.attention.channels)));
    k.placement.aligned = 1;
  }
  if (def(n.op).category != Category::Recurrent) return;
  const ValueId weights = n.operands[2];
  const std::size_t time_axis = n.attrs.int_or("layout", 0) == 1 ? 1 : 0;
  k.traffic.state_weights = of_.elements(weights) * element_bytes(of_.g.type(weights), of_.widths.is_half(id));
  k.traffic.steps = static_cast<double>(of_.g.type(n.operands[0]).shape()[time_axis].value());
  k.traffic.resident = def(of_.config.runtime).autocast && stays_in_multiprocessors(of_.g.type(weights));
}

void KernelMaker::be_linear_attention(NodeId id, Kernel& k) const {
  const auto a = linear_attention_of(CostContext(of_.g, id));
  if (!a) return;
  const StateKernels own = a->token_major ? StateKernels::Chunks : StateKernels::Tokens;
  k.state = {.kernels = def(of_.config.runtime).autocast ? StateKernels::Library : own,
             .sequences = a->batch,
             .heads = a->heads,
             .tokens = a->tokens,
             .keys = a->keys,
             .values = a->values,
             .by_channel = a->by_channel};
  if (a->tokens <= 1) k.kind = KernelKind::Vector;  // the state is read and written: memory bounds it
}

Kernel KernelMaker::copy_of(NodeId id, ValueId v, double element_bytes) const {
  Kernel k = empty(id);
  k.traffic.bytes = k.traffic.handed_bytes = 2 * of_.elements(v) * element_bytes;
  k.extents = elementwise_extents(of_.g.type(v), of_.elements(v));
  k.ops.push_back(op("copy"));
  return k;
}

Kernel KernelMaker::cast_of(NodeId id, ValueId v) const {
  const double n = of_.elements(v);
  if (of_.widths.is_eight(id)) return quantisation_of(id, v);
  Kernel k = empty(id);
  k.work.flops = n;
  k.traffic.bytes = 6 * n;
  if (!of_.is_stored(v)) k.traffic.handed_bytes = k.traffic.bytes;
  // However a weight is stored, its elements lie in one row.
  k.extents = of_.weight[v.node] ? Extents{.m = n, .n = 1, .k = 1} : elementwise_extents(of_.g.type(v), n);
  k.ops.push_back(op("cast"));
  return k;
}

/// Reads 16 bits and writes 8 per element, and a scale per row.
Kernel KernelMaker::quantisation_of(NodeId id, ValueId v) const {
  Kernel k = copy_of(id, v, 0);
  const double n = of_.elements(v);
  k.half = true;
  k.work.flops = constants::kQuantisingOperations * n;
  k.traffic.bytes = of_.widths.bytes_of(v) + n;
  k.traffic.handed_bytes = of_.is_stored(v) ? n : k.traffic.bytes;
  k.ops = {op("qnn.dynamic_quantize")};
  return k;
}

double KernelMaker::inner_bytes(NodeId id) const {
  const Node& n = of_.node(id);
  const bool apart = of_.config.mode == ExecMode::Eager && norm_statistics(of_, id);
  if (n.is(op("nn.group_norm")) && !apart) return of_.widths.bytes_read(n.operands[0], n);
  if (n.is(op("topk"))) return selection(id).bytes;
  if (of_.widths.is_half(id)) {
    if (const auto a = linear_attention_of(CostContext(of_.g, id))) return wide_state_bytes(*a);
  }
  return def(n.op).category == Category::Recurrent ? gate_bytes(n) : 0;
}

/// What float32 states have beyond 16 bits. Those of ONNX Runtime's LinearAttention are as wide as its data.
double KernelMaker::wide_state_bytes(const LinearAttention& a) const {
  constexpr double kBeyondHalf = 2;
  return a.token_major || def(of_.config.runtime).autocast ? kBeyondHalf * a.moved : 0;
}

double KernelMaker::gate_bytes(const Node& n) const {
  const Type& states = n.results[0].type;
  const auto cell = cell_of(of_.g.type(n.operands[2]));
  if (!states.is_static() || !cell) return 0;
  return static_cast<double>(*states.elements()) * cell->gates * constants::kGatePasses * constants::kGateBytes;
}

double KernelMaker::stored_bytes(NodeId id, const OpCost& cost) const {
  double stored = 0;
  for (ValueId v : of_.node(id).operands) {
    if (v && of_.is_stored(v)) stored += of_.widths.bytes_read(v, of_.node(id));
  }
  return stored - unread_bytes(id, cost, false).stored;
}

UnreadBytes KernelMaker::unread_bytes(NodeId id, const OpCost& cost, bool once) const {
  UnreadBytes out;
  const auto& operands = of_.node(id).operands;
  for (const OpCost::Unread& u : cost.unread) {
    const ValueId v = operands[u.operand];
    if (once &&
        std::find(operands.begin(), operands.end(), v) != operands.begin() + static_cast<std::ptrdiff_t>(u.operand))
      continue;
    const double bytes = u.share * of_.widths.bytes_read(v, of_.node(id));
    out.all += bytes;
    if (of_.is_stored(v)) out.stored += bytes;
  }
  return out;
}

}  // namespace perfc
