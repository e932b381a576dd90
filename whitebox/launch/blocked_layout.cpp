#include "whitebox/launch/blocked_layout.h"

#include <algorithm>

#include "ir/layout.h"
#include "whitebox/constants/mlas.h"
#include "whitebox/launch/geometry.h"

namespace perfc {
namespace {

enum class Form { Plain, Blocked, FromPlain };

/// Constant weights, two spatial dims, and channels that fill blocks or are few.
Form form_of_convolution(const PlannedGraph& of, const Node& n) {
  const Type& data = of.g.type(n.operands[0]);
  const auto axes = data.is_static() ? data_axes(n.attrs, data.rank()) : std::nullopt;
  if (!axes || axes->spatial.size() != 2 || axes->channel != 1 || is_transposed_convolution(n.op)) return Form::Plain;
  if (!of.weight[n.operands[1].node] || data.dtype() != DType::Float32) return Form::Plain;
  const auto divides = [](double channels, double by) {
    return static_cast<std::int64_t>(channels) % static_cast<std::int64_t>(by) == 0;
  };
  const ConvolutionGroup group = convolution_group(of.g, n, 1, false);
  if (n.attrs.int_or("groups", 1) == 1) {
    if (group.inputs < constants::kMlasBlock) return Form::FromPlain;
    return divides(group.inputs, constants::kMlasChannels) ? Form::Blocked : Form::Plain;
  }
  const auto channels = static_cast<double>(data.shape()[1].value());
  if (group.inputs == 1 && group.outputs == 1)
    return divides(channels, constants::kMlasChannels) ? Form::Blocked : Form::Plain;
  const bool full = divides(group.inputs, constants::kMlasBlock) && divides(group.outputs, constants::kMlasBlock);
  return full ? Form::Blocked : Form::Plain;
}

class Chooser {
 public:
  explicit Chooser(const PlannedGraph& of)
      : of_(of), out_{std::vector<bool>(of.g.size()), std::vector<bool>(of.g.size())} {
    for (NodeId id = 0; id < of.g.size(); ++id) {
      if (of.node(id).kind == NodeKind::Call && !of.weight[id]) choose(id, of.node(id));
    }
  }
  BlockedLayout finish() { return std::move(out_); }

 private:
  void choose(NodeId id, const Node& n) {
    if (def(n.op).category == Category::Convolution && n.operands.size() > 1) {
      const Form form = form_of_convolution(of_, n);
      out_.takes[id] = form == Form::Blocked;
      out_.dense[id] = form == Form::FromPlain;
    } else if (def(n.op).mlas.blocked) {
      out_.takes[id] = def(n.op).category == Category::Pooling ? pools(n) : all_blocked(n);
    }
  }

  /// Pools convert their data, where its channels fill blocks.
  bool pools(const Node& n) const {
    const Type& data = of_.g.type(n.operands[0]);
    if (!data.is_static() || data.rank() != 4 || data.dtype() != DType::Float32) return false;
    return data.shape()[1].value() % static_cast<std::int64_t>(constants::kMlasBlock) == 0;
  }

  /// Values of the result's shape but for its channels, which all lie in blocks; beside them scales and shifts.
  bool all_blocked(const Node& n) const {
    const Type& result = n.results[0].type;
    bool any = false;
    for (const ValueId v : n.operands) {
      if (!v) continue;
      const Type& type = of_.g.type(v);
      if (of_.weight[v.node] && type.rank() <= 1) continue;
      if (!out_.gives(v.node) || type.rank() != result.rank()) return false;
      if (def(n.op).category != Category::DataMovement && type.shape() != result.shape()) return false;
      any = true;
    }
    return any && (def(n.op).category != Category::DataMovement || n.attrs.int_or("axis", 0) == 1);
  }

  const PlannedGraph& of_;
  BlockedLayout out_;
};

}  // namespace

BlockedLayout blocked_layout(const PlannedGraph& of) { return Chooser(of).finish(); }

}  // namespace perfc
