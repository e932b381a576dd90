/// Control flow: bodies of ONNX read what they capture by its name.
#include <fmt/format.h>

#include "backends/onnx/rows.h"
#include "ir/control_flow.h"

namespace perfc::backends::write {

Status control(CallWriter& c) {
  const ControlLayout layout = control_layout(c.node.op, c.attrs, c.operands.size());
  if (layout.batched) return c.error("a scan with a batch axis (operator set 8) has no form in newer ones");
  const CallWriter::Names captures(c.operands.begin() + static_cast<std::ptrdiff_t>(layout.own), c.operands.end());
  const CallWriter::Names own(c.operands.begin(), c.operands.begin() + static_cast<std::ptrdiff_t>(layout.own));
  auto attrs = onnx_attributes(c,
                               "num_scan_inputs scan_input_axes scan_input_directions scan_output_axes "
                               "scan_output_directions");
  if (!attrs) return Failure{};
  std::string_view spelling = def(c.node.op).onnx;
  if (!c.finish(spelling, own, *attrs)) return Failure{};
  static constexpr std::string_view kBranches[] = {"then_branch", "else_branch"};
  pb::NodeProto& node = c.last();
  for (std::size_t r = 0; r < c.node.regions.size(); ++r) {
    const Graph& body = *c.node.regions[r];
    pb::AttributeProto& a = *node.add_attribute();
    a.set_name(std::string(c.node.is(op("if")) ? kBranches[r] : "body"));
    a.set_type(pb::AttributeProto::GRAPH);
    if (body.params().size() < layout.captures) return c.error("its body has fewer params than captures");
    if (!write_body(c.model(), body, body.params().size() - layout.captures, captures, *a.mutable_g()))
      return Failure{};
  }
  return ok();
}

}  // namespace perfc::backends::write
