#include "frontends/paddle/importer.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontends/paddle/call.h"
#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// Blocks that enclose one another are nested no deeper than this.
constexpr int kMaxScopes = 64;

bool is_feed(const Operation& o) { return o.type == "feed" || o.type == "data" || o.type == "shadow_feed"; }
bool is_fetch(const Operation& o) { return o.type == "fetch" || o.type == "shadow_output"; }

std::int64_t column(const Operation& o) {
  const Attr* a = o.attr("col");
  const auto* i = a ? std::get_if<std::int64_t>(a) : nullptr;
  return i ? *i : 0;
}

std::string_view text(const Operation& o, std::string_view attr) {
  const Attr* a = o.attr(attr);
  const auto* s = a ? std::get_if<std::string>(a) : nullptr;
  return s ? std::string_view(*s) : std::string_view{};
}

std::string_view first_value(const std::vector<Slot>& slots) {
  for (const Slot& s : slots) {
    if (!s.values.empty()) return s.values.front();
  }
  return {};
}

}  // namespace

Result<Graph> Importer::run() {
  GraphBuilder builder(*diags_);
  const Block& main = program_.blocks.front();
  Frame frame{.builder = builder, .block = &main};
  declare_outputs();
  if (!declare_inputs(frame)) return Failure{};
  bool good = true;
  for (std::size_t i = 0; i < main.ops.size(); ++i) good = static_cast<bool>(run_operation(frame, main, i)) && good;
  if (!good || diags_->errors()) return Failure{};
  std::vector<ValueId> results;
  std::vector<std::string> names;
  const Operation end{.type = "fetch"};
  for (const auto& [value, name] : outputs_) {
    const auto binding = look_up(frame, value, end);
    if (!binding) return Failure{};
    for (std::size_t i = 0; i < binding->values.size(); ++i) {
      results.push_back(binding->values[i]);
      names.push_back(binding->kind == Binding::Kind::One ? name : fmt::format("{}.{}", name, i));
    }
  }
  if (results.empty())
    return diags_->error(
        "the program has no outputs; save it with paddle.jit.save or paddle.static.save_inference_model");
  return builder.finish(name_, std::move(results), std::move(names));
}

Status Importer::declare_inputs(Frame& frame) {
  struct Input {
    std::string_view value, name;
    std::int64_t column;
    SourceLoc loc;
  };
  std::vector<Input> found;
  const Block& main = *frame.block;
  std::set<std::string_view> made;
  for (const Operation& o : main.ops) {
    if (!is_feed(o)) continue;
    const std::string_view value = first_value(o.outputs);
    const std::string_view name = text(o, "name");
    found.push_back({value, name.empty() ? value : name, column(o), o.loc});
  }
  if (found.empty()) {
    // A program that was not prepared for inference: what is read before anything makes it.
    for (const Operation& o : main.ops) {
      for (const Slot& s : o.inputs) {
        for (std::string_view v : s.values) {
          const Variable* known = variable(frame, v);
          if (known && known->role == Variable::Role::Value && known->type.is_tensor() && made.insert(v).second) {
            found.push_back({v, known->label, 0, known->loc});
          }
        }
      }
      for (const Slot& s : o.outputs) made.insert(s.values.begin(), s.values.end());
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Input& a, const Input& b) { return a.column < b.column; });
  std::vector<ModelInput> inputs;
  for (const Input& i : found) {
    const Variable* v = variable(frame, i.value);
    if (!v || !v->type.is_tensor()) return diags_->error(i.loc, i.name, "an input without a tensor type");
    inputs.push_back({i.name, v->type, i.loc});
  }
  if (!dims_.apply(inputs, *diags_)) return Failure{};
  for (std::size_t i = 0; i < found.size(); ++i) {
    frame.values[found[i].value] = {
        .values = {frame.builder.var(inputs[i].type, std::string(inputs[i].name), inputs[i].loc, inputs[i].data)}};
  }
  return ok();
}

void Importer::declare_outputs() {
  const Block& main = program_.blocks.front();
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (std::size_t i = 0; i < main.ops.size(); ++i) {
    if (is_fetch(main.ops[i])) order.emplace_back(column(main.ops[i]), i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [col, i] : order) {
    const Operation& o = main.ops[i];
    const std::string_view value = first_value(o.inputs);
    std::string_view name = text(o, o.type == "fetch" ? "name" : "output_name");
    outputs_.emplace_back(value, name.empty() ? value : name);
  }
  if (!outputs_.empty()) return;
  // No fetch: what the last operation gives.
  for (auto o = main.ops.rbegin(); o != main.ops.rend() && outputs_.empty(); ++o) {
    const std::string_view value = first_value(o->outputs);
    if (!value.empty()) outputs_.emplace_back(value, value);
  }
}

// ---- Names

const Variable* Importer::variable(const Frame& frame, std::string_view name) const {
  const Block* b = frame.block;
  for (int scopes = 0; b && scopes < kMaxScopes; ++scopes) {
    const auto found = b->vars.find(name);
    if (found != b->vars.end()) return &found->second;
    const bool nested = b->parent >= 0 && static_cast<std::size_t>(b->parent) < program_.blocks.size();
    b = nested && b != &program_.blocks.front() ? &program_.blocks[static_cast<std::size_t>(b->parent)] : nullptr;
  }
  if (frame.block != &program_.blocks.front()) {
    const auto& vars = program_.blocks.front().vars;
    const auto found = vars.find(name);
    if (found != vars.end()) return &found->second;
  }
  return nullptr;
}

Type Importer::declared(const Frame& frame, std::string_view name) const {
  const Variable* v = variable(frame, name);
  if (!v || dims_.overridden()) return {};
  return dims_.bind(v->type);
}

std::size_t Importer::declared_items(const Frame& frame, std::string_view name) const {
  const Variable* v = variable(frame, name);
  return v ? v->items.size() : 0;
}

Result<Binding> Importer::look_up(Frame& frame, std::string_view name, const Operation& reader) {
  if (frame.pending.count(name) && !settle(frame, name)) return Failure{};
  const auto found = frame.values.find(name);
  if (found != frame.values.end()) return found->second;
  if (frame.poisoned.count(name)) return Failure{};
  const Variable* v = variable(frame, name);
  if (v && v->role == Variable::Role::Weight) {
    Binding b{.values = {frame.builder.constant({v->type, nullptr}, std::string(v->label), v->loc)}};
    frame.values[name] = b;
    return b;
  }
  return diags_->error(reader.loc, first_value(reader.outputs),
                       fmt::format("{}: '{}' is used but nothing before makes it", reader.type, name));
}

// ---- Operations

Status Importer::run_block(Frame& frame, const Block& block) {
  const Block* outer = frame.block;
  frame.block = &block;
  bool good = true;
  for (std::size_t i = 0; i < block.ops.size() && good; ++i) good = static_cast<bool>(run_operation(frame, block, i));
  frame.block = outer;
  return good ? ok() : Status(Failure{});
}

Status Importer::run_operation(Frame& frame, const Block& block, std::size_t index) {
  const Operation& o = block.ops[index];
  if (frame.done.count(&o) || is_fetch(o)) return ok();
  if (is_feed(o) && frame.values.count(first_value(o.outputs))) return ok();
  Call c(*this, frame, o, find_row(program_.dialect, o.type));
  const auto poison = [&] {
    for (std::string_view v : c.outputs()) {
      if (!frame.values.count(v)) frame.poisoned.insert(v);
    }
    return Failure{};
  };
  if (++operations_ > kMaxOperations)
    return c.error(fmt::format("control flow expands to more than {} operations", kMaxOperations));
  Status done = ok();
  if (o.type == "while") {
    done = while_loop(c);
  } else if (o.type == "if") {
    done = branches(c);
  } else if (o.type == "conditional_block" || o.type == "conditional_block_infer") {
    done = conditional_block(c);
  } else if (o.type == "select_input") {
    done = select_input(c, block, index);
  } else {
    if (!c.resolve()) return poison();
    if (!c.row) {
      done = opaque(c);
    } else {
      auto results = c.row->translate ? c.row->translate(c) : one_to_one(c);
      done = !results ? Status(Failure{}) : c.opaque ? opaque(c) : bind_outputs(c, *results);
      const Slot* changed = program_.dialect == Dialect::Pir ? in_place_operand(o) : nullptr;
      const auto result = frame.values.find(first_value(o.outputs));
      if (done && changed && result != frame.values.end()) {
        const Binding now = result->second;
        frame.values[changed->values.front()] = now;
      }
    }
  }
  return done ? done : Status(poison());
}

Status Importer::bind_outputs(Call& c, const std::vector<ValueId>& results) {
  std::size_t next = 0, position = 0;
  std::string_view columns = c.row->outputs;
  if (columns == "...") {
    const std::vector<std::string_view> names = c.outputs();
    for (std::size_t i = 0; i < names.size() && i < results.size(); ++i)
      c.frame.values[names[i]] = {.values = {results[i]}};
    return ok();
  }
  while (!columns.empty()) {
    std::string_view column = next_word(columns, ' ');
    const bool list = column.ends_with('*');
    if (list) column.remove_suffix(1);
    const Slot* slot = c.output(column, position++);
    if (!slot || slot->values.empty()) {
      if (!list) ++next;
      continue;
    }
    const bool vector = list && program_.dialect == Dialect::Pir;
    if (vector) {
      Binding b{.kind = Binding::Kind::List};
      for (std::size_t n = c.results_of(*slot); n > 0 && next < results.size(); --n)
        b.values.push_back(results[next++]);
      c.frame.values[slot->values.front()] = std::move(b);
      continue;
    }
    for (std::string_view name : slot->values) {
      if (next >= results.size()) break;
      const ValueId v = results[next++];
      if (!v || name.empty()) continue;
      auto fitted = adapt(c, v, name);
      if (!fitted) return Failure{};
      c.frame.pending.erase(name);
      c.frame.values[name] = {.values = {*fitted}};
      if (!list) break;
    }
  }
  return ok();
}

Result<ValueId> Importer::adapt(Call& c, ValueId v, std::string_view output) {
  const Variable* declared_as = variable(c.frame, output);
  const Type made = c.type(v);
  if (!declared_as || !declared_as->type.is_tensor() || !made.is_tensor()) return v;
  const Type& wanted = declared_as->type;
  if (wanted.dtype() != made.dtype() && is_integer(wanted.dtype()) && is_integer(made.dtype())) {
    auto cast = c.cast(v, wanted.dtype());
    if (!cast) return Failure{};
    v = *cast;
  }
  if (!wanted.ranked() || !made.ranked()) return v;
  const bool widen = made.rank() == 0 && wanted.rank() == 1 && wanted.shape()[0].is(1);
  const bool narrow = wanted.rank() == 0 && made.rank() == 1 && made.shape()[0].is(1);
  if (widen || narrow) return c.reshape(v, widen ? Ints{1} : Ints{});
  if (dims_.overridden()) return v;
  bool conflict = false;
  (void)merge(c.type(v), dims_.bind(wanted), &conflict);
  if (conflict)
    c.warning(fmt::format("the result is {}, but the file declares {}; using the former", to_string(c.type(v)),
                          to_string(wanted)));
  return v;
}

Status Importer::opaque(Call& c) {
  const Operation& o = c.operation;
  std::vector<ValueId> operands = c.all_operands();
  std::vector<Type> types;
  std::vector<std::string_view> names;
  for (std::string_view name : c.outputs()) {
    if (name.empty()) continue;
    Type t = declared(c.frame, name);
    if (!t.is_tensor()) {
      return c.error(
          fmt::format("is not known to perfc, and {} the type of its result '{}'",
                      dims_.overridden() ? "with --shape the file does not tell" : "the file does not declare", name));
    }
    // A batch that the file leaves open is that of the data.
    if (t.ranked() && t.rank() > 0 && !t.shape()[0].known() && !operands.empty()) {
      Shape shape = t.shape();
      shape[0] = c.dim(operands.front(), 0);
      t = Type::tensor(t.dtype(), std::move(shape));
    }
    types.push_back(std::move(t));
    names.push_back(name);
  }
  if (types.empty()) return c.error("is not known to perfc and has no result");
  c.warning(fmt::format("{}; kept as opaque: its cost is not known",
                        c.row ? "this form of it is not supported" : "unknown operator"));
  CallSpec spec{.op = op("opaque"),
                .operands = std::move(operands),
                .attrs = {{"source_op", std::string(o.type)}},
                .results = static_cast<int>(types.size()),
                .declared = types,
                .name = c.name,
                .loc = c.loc};
  auto id = c.frame.builder.call(std::move(spec));
  if (!id) return Failure{};
  for (std::uint32_t i = 0; i < names.size(); ++i) c.frame.values[names[i]] = {.values = {{*id, i}}};
  return ok();
}

}  // namespace perfc::paddle
