#include "ir/tables.h"

#include <algorithm>

namespace perfc {
namespace {

ValueId add_marked(GraphBuilder& builder, std::string_view mark, Literal literal, std::string name, SourceLoc loc) {
  Node n;
  n.kind = NodeKind::Constant;
  n.attrs.set(mark, std::int64_t{1});
  n.name = std::move(name);
  n.loc = loc;
  n.results.push_back({std::move(literal.type), std::move(literal.data)});
  return {builder.adopt(n, {}), 0};
}

}  // namespace

ValueId add_table(GraphBuilder& builder, Literal literal, std::string name, SourceLoc loc) {
  return add_marked(builder, kTable, std::move(literal), std::move(name), loc);
}

ValueId add_zeros(GraphBuilder& builder, Type type, std::string name, SourceLoc loc) {
  return add_marked(builder, kZeros, {std::move(type), nullptr}, std::move(name), loc);
}

bool is_zeros(const Node& n) {
  if (n.kind != NodeKind::Constant) return false;
  const auto* numbers = n.results[0].data ? n.results[0].data->floats() : nullptr;
  return n.attrs.has(kZeros) ||
         (numbers && !numbers->empty() && std::ranges::all_of(*numbers, [](double number) { return number == 0; }));
}

}  // namespace perfc
