#include "ir/tables.h"

namespace perfc {

ValueId add_table(GraphBuilder& builder, Literal literal, std::string name, SourceLoc loc) {
  Node n;
  n.kind = NodeKind::Constant;
  n.attrs.set(kTable, std::int64_t{1});
  n.name = std::move(name);
  n.loc = loc;
  n.results.push_back({std::move(literal.type), std::move(literal.data)});
  return {builder.adopt(n, {}), 0};
}

}  // namespace perfc
