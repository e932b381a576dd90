#include "whitebox/launch/data_layout.h"

#include <algorithm>
#include <utility>

#include "ir/eager_marks.h"
#include "ir/infer_context.h"
#include "ir/layout.h"
#include "whitebox/constants/layouts.h"
#include "whitebox/launch/framework.h"
#include "whitebox/launch/kernels.h"
#include "whitebox/launch/value_strides.h"

namespace perfc {

namespace {

/// A convolution as TorchInductor sees it when it chooses a layout.
struct Convolution {
  NodeId id;
  bool grouped, small, narrowing;
};

std::vector<Convolution> convolutions(const Graph& g) {
  std::vector<Convolution> out;
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || def(n.op).category != Category::Convolution || n.operands.size() < 2) continue;
    const Type& w = g.type(n.operands[1]);
    auto axes = kernel_axes(g, n);
    if (!axes || !w.is_static() || axes->spatial.empty()) continue;
    if (is_transposed_convolution(n.op)) std::swap(axes->outer, axes->channel);  // it looks at dims 0 and 1
    const auto extent = [&](std::size_t axis) { return static_cast<double>(w.shape()[axis].value()); };
    const double outer = extent(axes->outer), inner = extent(axes->channel);
    out.push_back({.id = id,
                   .grouped = n.attrs.int_or("groups", 1) > 1 && inner > 1,
                   .small = outer <= constants::kSmallChannels && inner <= constants::kSmallChannels,
                   .narrowing = outer * 2 <= inner && extent(axes->spatial.front()) > 1});
  }
  return out;
}

double factor_channels_last(const Convolution& c) {
  return c.grouped     ? constants::kGroupedLast
         : c.small     ? constants::kSmallLast
         : c.narrowing ? constants::kNarrowingLast
                       : constants::kOtherLast;
}

/// Whether TorchInductor lays a graph's convolutions out channels-last: for inference where its factors on their time
/// say that it saves some; for what a backward pass follows, unless some are grouped or narrowing, or all small. Graphs
/// of 300 nodes and more for each of them it leaves alone, which is left out: exporters write other numbers of nodes.
/// [torch/_inductor/graph.py of 2.9 and 2.13, decide_layout_opt]
bool compiler_prefers_channels_last(const Graph& g, Task task) {
  const std::vector<Convolution> all = convolutions(g);
  if (all.empty()) return false;
  if (task != Task::Infer)
    return std::ranges::none_of(all, [](const Convolution& c) { return c.grouped || c.narrowing; }) &&
           !std::ranges::all_of(all, &Convolution::small);
  double before = 0, after = 0;
  for (const Convolution& c : all) {
    const double macs = op_cost(g, c.id).macs;
    before += macs;
    after += macs * factor_channels_last(c);
  }
  return after <= before;
}

}  // namespace

bool is_part(const Node& n) { return n.kind == NodeKind::Call && def(n.op).moves == Moves::Part; }

bool only_splits(const Graph& g, const Node& n) {
  const Type &from = g.type(n.operands[0]), &to = n.results[0].type;
  if (!n.is(op("reshape")) || !from.is_static() || !to.is_static() || from.elements() == 0) return false;
  std::size_t next = 0;
  for (const Dim& d : from.shape()) {
    std::int64_t product = 1;
    while (product < d.value() && next < to.rank()) product *= to.shape()[next++].value();
    if (product != d.value()) return false;
  }
  return true;
}

bool batched_product_copies(const Type& t) {
  if (!t.is_static() || t.rank() < 4) return false;
  const auto several = [](const Dim& d) { return d.value() > 1; };
  return std::count_if(t.shape().begin(), t.shape().end() - 2, several) > 1;
}

bool convolves_channels_last(const Graph& g, const ExecConfig& config) {
  return config.layout == Layout::Nhwc ||
         (config.mode == ExecMode::Compiled && compiler_prefers_channels_last(g, config.task));
}

std::vector<bool> channels_last(const Graph& g, const ExecConfig& config) {
  const bool asked = convolves_channels_last(g, config);
  std::vector<bool> last(g.size(), false);
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind == NodeKind::Var) last[id] = asked;
    if (n.kind != NodeKind::Call) continue;
    // Elementwise results lie as their first operand does (TensorIterator).
    const auto data =
        std::ranges::find_if(n.operands, [&](ValueId v) { return v && g.node(v).kind != NodeKind::Constant; });
    const bool data_last = data != n.operands.end() && last[data->node];
    const Category c = def(n.op).category;
    if (c == Category::Convolution) {
      // Weights that are computed are dense, whatever was asked for.
      const bool stored = n.operands.size() > 1 && n.operands[1] && g.node(n.operands[1]).kind != NodeKind::Call;
      last[id] = data_last || (asked && (stored || config.mode == ExecMode::Compiled));
    } else if (n.is(op("transpose"))) {
      const auto axes = n.attrs.ints_or_empty("perm");
      const bool to_last = axes == std::vector<std::int64_t>{0, 3, 1, 2};
      last[id] = n.attrs.has(kAddedTranspose) ? asked : to_last && !data_last;
    } else if (n.is(op("reshape"))) {
      // (batch, tokens, channels), transposed and split into a plane.
      const Node& tokens = g.node(n.operands[0]);
      last[id] = tokens.is(op("transpose")) &&
                 tokens.attrs.ints_or_empty("perm") == std::vector<std::int64_t>{0, 2, 1} &&
                 n.results[0].type.ranked() && n.results[0].type.rank() == 4 && only_splits(g, n);
    } else {
      last[id] = def(n.op).runs.format == MemoryFormat::Preserved && data_last;
    }
  }
  return last;
}

namespace {

using Perm = std::vector<std::int64_t>;

/// (batch, channels, positions) of a plane that lies channels-last.
bool flattens_channels_last(const Graph& g, const Node& n, const DataLayout& l) {
  return n.is(op("reshape")) && l.channels_last[n.operands[0].node] && g.type(n.operands[0]).rank() == 4 &&
         n.results[0].type.rank() == 3 && g.type(n.operands[0]).shape()[1] == n.results[0].type.shape()[1];
}

/// Reads a part of a value, perhaps through a permuted view: its data is not dense.
bool reads_part(const Graph& g, ValueId data) {
  const Node& n = g.node(data);
  return is_part(n) || (n.is(op("transpose")) && n.operands[0] && is_part(g.node(n.operands[0])));
}

/// A transpose that brings data into the order in which it lies in memory: back from
/// channels-last to tokens, and of heads behind fused attention, whose kernels write
/// (batch, queries, heads, channels).
bool becomes_dense(const Graph& g, const Node& n, const DataLayout& l, bool half) {
  if (!n.is(op("transpose"))) return false;
  const NodeId from = n.operands[0].node;
  const Perm perm = n.attrs.ints_or_empty("perm");
  if (g.node(from).is(op("nn.sdpa")) || is_grouped_attention(g, g.node(from)))
    return perm == Perm{0, 2, 1, 3} && !written_out_attention(g, from, {.half = half});
  if (l.columns[from] && perm == Perm{0, 2, 1}) return true;
  return l.channels_last[from] && perm == Perm{0, 2, 3, 1};
}

/// Compilers copy for kernels that are not theirs, products and convolutions; their own read as data lies.
void copy_for_kernels_only(const Graph& g, DataLayout& l) {
  std::vector<bool> wanted(g.size(), false);
  for (ValueId v : g.results()) wanted[v.node] = true;
  for (NodeId id = g.size(); id-- > 0;) {
    const Node& n = g.node(id);
    const bool looks = n.kind == NodeKind::Call && is_any_view(g, n);
    if (n.kind == NodeKind::Call && (looks ? wanted[id] : !fuses(n))) {
      for (ValueId v : n.operands) {
        if (v) wanted[v.node] = true;
      }
    }
    l.copied[id] = l.copied[id] && wanted[id];
  }
}

}  // namespace

namespace {

bool are_in_order(const Type& t, const Strides& strides) {
  return !t.is_static() || strides.size() != t.rank() || is_contiguous(t.shape(), strides);
}

}  // namespace

bool lies_in_order(const Graph& g, ValueId v, const DataLayout& l) {
  return are_in_order(g.type(v), l.strides[v.node]);
}

bool reads_in_order(const Graph& g, NodeId user, std::size_t operand, const DataLayout& l) {
  return are_in_order(g.type(g.node(user).operands[operand]), strides_read(g, user, operand, l.strides, l.cast));
}

namespace {

/// Whether a convolution reads its data in its own order of channels.
bool reads_as_convolved(const Graph& g, NodeId id, const DataLayout& l) {
  const Type& t = g.type(g.node(id).operands[0]);
  const Strides strides = strides_read(g, id, 0, l.strides, l.cast);
  if (!l.channels_last[id] || t.rank() < 3 || !t.is_static() || strides.size() != t.rank())
    return are_in_order(t, strides);
  return is_contiguous_channels_last(t.shape(), strides);
}

/// Whether a call's data, of three dims or more, is a matrix of its rows as it is read, which
/// torch.nn.functional.linear needs.
bool reads_matrix_of_rows(const Graph& g, NodeId id, const DataLayout& l) {
  const Type& t = g.type(g.node(id).operands[0]);
  const Strides strides = strides_read(g, id, 0, l.strides, l.cast);
  if (!t.is_static() || strides.size() != t.rank() || t.rank() < 2) return true;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < t.rank(); ++i) rows *= t.shape()[i].value();
  return viewed(t.shape(), strides, {Dim(rows), t.shape().back()}).has_value();
}

/// Whether its matrices are a view of three dims.
bool reads_stack(const Graph& g, NodeId id, const DataLayout& l) {
  const Node& n = g.node(id);
  return is_product_view(g.type(n.operands[0]), strides_read(g, id, 0, l.strides, l.cast), n.results[0].type);
}

bool is_stacked(const Graph& g, NodeId id, const DataLayout& l) {
  const Node& n = g.node(id);
  return n.is(op("nn.dense")) && !l.cast.empty() && l.cast[id].contains(1) && g.type(n.operands[0]).rank() > 2 &&
         !reads_matrix_of_rows(g, id, l);
}

}  // namespace

bool is_stack_of_matrices(const Graph& g, ValueId v, const Type& result, const DataLayout& l) {
  return is_product_view(g.type(v), l.strides[v.node], result);
}

namespace {

/// A view that eager PyTorch has to copy for.
bool view_copies(const Graph& g, const Node& n, const DataLayout& l) {
  const Type &from = g.type(n.operands[0]), &to = n.results[0].type;
  if (def(n.op).runs.launch == Launch::ViewIfContiguous) return !lies_in_order(g, n.operands[0], l);
  const Strides& strides = l.strides[n.operands[0].node];
  return def(n.op).moves == Moves::Reshapes && from.is_static() && to.is_static() && strides.size() == from.rank() &&
         !viewed(from.shape(), strides, to.shape());
}

}  // namespace

DataLayout data_layout(const Graph& g, const ExecConfig& config, const std::vector<bool>& weight, CastOperands cast) {
  const std::vector<bool> none(g.size(), false);
  const bool eager = config.mode == ExecMode::Eager;
  DataLayout l{eager ? none : channels_last(g, config), none, none, none, {}, std::move(cast), none};
  const bool half = config.precision == Precision::Amp || float_bytes(config.precision) == 2;
  if (eager) {
    l.strides = value_strides(g, convolves_channels_last(g, config), half, l.cast);
    for (NodeId id = 0; id < g.size(); ++id) {
      if (!l.strides[id].empty()) l.channels_last[id] = suggests_channels_last(g.type({id, 0}), l.strides[id]);
      l.stacked[id] = config.task == Task::Infer && is_stacked(g, id, l);
    }
  }
  for (NodeId id = 0; id < g.size(); ++id) {
    const Node& n = g.node(id);
    if (n.kind != NodeKind::Call || n.operands.empty() || !n.operands[0]) continue;
    const NodeId from = n.operands[0].node;
    if (is_strided_view(g, n)) {
      const Perm perm = n.attrs.ints_or_empty("perm");
      const bool moves_columns =
          n.is(op("transpose")) && !perm.empty() && perm.back() != static_cast<std::int64_t>(perm.size()) - 1;
      l.strided[id] = !becomes_dense(g, n, l, half);
      l.columns[id] = l.strided[id] && moves_columns != l.columns[from];
    } else if (is_view(n) || is_epilogue(g, n)) {
      l.copied[id] = eager ? view_copies(g, n, l) : n.is(op("reshape")) && l.strided[from] && !only_splits(g, n);
      l.columns[id] = !l.copied[id] && (l.columns[from] || flattens_channels_last(g, n, l));
      l.strided[id] = !l.copied[id] && (l.strided[from] || l.columns[id]);
    } else if (is_elementwise(n) && eager) {
      // TensorIterator writes a result as its first operand lies.
      const auto data = std::ranges::find_if(n.operands, [&](ValueId v) { return v && !weight[v.node]; });
      if (data == n.operands.end() || g.type(*data).rank() != n.results[0].type.rank()) continue;
      l.columns[id] = l.strided[id] = l.columns[data->node];
    }
  }
  if (config.mode == ExecMode::Compiled) copy_for_kernels_only(g, l);
  return l;
}

bool copies_data(const Graph& g, NodeId id, const DataLayout& l, const std::vector<bool>& weight) {
  const Node& n = g.node(id);
  if (n.operands.empty() || !n.operands[0]) return false;
  const NodeId from = n.operands[0].node;
  const bool eager = !l.strides.empty();
  if (!eager && weight[from]) return false;  // once and for all
  const Category c = def(n.op).category;
  switch (def(n.op).wants) {
    case Wants::Rows:
      if (def(n.op).splits_bias && eager)
        return g.type(n.operands[0]).rank() > 2 &&
               !(l.stacked[id] ? reads_stack(g, id, l) : reads_matrix_of_rows(g, id, l));
      // Norms: aten/src/ATen/native/layer_norm.cpp, expect_contiguous.
      if (c == Category::Normalization && eager) return !reads_in_order(g, id, 0, l);
      return l.columns[from] && g.type(n.operands[0]).rank() > 2;
    case Wants::ChannelsFirst:
      if (eager) return !reads_in_order(g, id, 0, l);
      return l.strided[from] || l.channels_last[from];
    case Wants::Anything:
      break;
  }
  if (c == Category::Softmax || reflects(n)) return eager ? !reads_in_order(g, id, 0, l) : l.strided[from];
  if (c != Category::Convolution) return false;
  if (eager) return !reads_as_convolved(g, id, l);
  return l.channels_last[from] ? reads_part(g, n.operands[0]) : l.strided[from] || l.channels_last[id];
}

bool compiled_copies_data(const Graph& g, NodeId id, const DataLayout& l, const std::vector<bool>& weight) {
  const Node& n = g.node(id);
  if (n.is(op("nn.dense"))) return copies_data(g, id, l, weight);
  if (def(n.op).category != Category::Convolution || weight[n.operands[0].node]) return false;
  return reads_part(g, n.operands[0]);
}

}  // namespace perfc
