#include "whitebox/launch/plan_writer.h"

#include <set>

namespace perfc {

HostCall host_call(OpId o) {
  switch (def(o).category) {
    case Category::Convolution:
      return HostCall::Convolution;
    case Category::MatMul:
      return HostCall::Product;
    case Category::Normalization:
      return HostCall::Normalization;
    case Category::Attention:
    case Category::Recurrent:
      return HostCall::Composite;
    default:
      return HostCall::Kernel;
  }
}

HostCall compiled_call(const Kernel& k) {
  const bool generated = k.kind == KernelKind::Vector || k.kind == KernelKind::Gather;
  return generated ? HostCall::Kernel : host_call(k.ops.front());
}

void PlanWriter::add(NodeId id, Kernel k) {
  const std::uint32_t index = add_alone(std::move(k));
  Made& made = made_[id];
  if (made.first == kNone) {
    made.first = index;
  } else {
    out_.edges.emplace_back(made.last, index);
  }
  made.last = index;
}

std::uint32_t PlanWriter::add_alone(Kernel k) {
  out_.add(std::move(k));
  return next() - 1;
}

void PlanWriter::add_cast(NodeId from, NodeId to, Kernel k) { casts_.push_back({add_alone(std::move(k)), from, to}); }

void PlanWriter::share(const std::vector<NodeId>& nodes, std::uint32_t first, std::uint32_t last) {
  for (NodeId id : nodes) made_[id] = {first, last};
  if (first != last) out_.edges.emplace_back(first, last);
}

std::vector<NodeId> PlanWriter::writers() const {
  std::vector<NodeId> writer(g_.size());
  for (NodeId id = 0; id < g_.size(); ++id) {
    const Node& n = g_.node(id);
    const bool hands_on = n.kind == NodeKind::Call && !has_kernel(id) && !n.operands.empty() && n.operands[0];
    writer[id] = hands_on ? writer[n.operands[0].node] : id;
  }
  return writer;
}

void PlanWriter::connect() {
  const std::vector<NodeId> writer = writers();
  std::set<std::pair<NodeId, NodeId>> cast;  // (operand, user) that go through a cast
  for (const Cast& c : casts_) {
    cast.insert({c.from, c.to});
    if (has_kernel(writer[c.from])) out_.edges.emplace_back(made_[writer[c.from]].last, c.kernel);
    if (has_kernel(c.to)) out_.edges.emplace_back(c.kernel, made_[c.to].first);
  }
  for (NodeId id = 0; id < g_.size(); ++id) {
    if (g_.node(id).kind != NodeKind::Call || !has_kernel(id)) continue;
    for (ValueId v : g_.node(id).operands) {
      if (!v || cast.count({v.node, id}) || !has_kernel(writer[v.node]) || same_kernels(writer[v.node], id)) continue;
      const Made& from = made_[writer[v.node]];
      if (from.last != made_[id].first) out_.edges.emplace_back(from.last, made_[id].first);
    }
  }
}

}  // namespace perfc
