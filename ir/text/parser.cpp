#include "ir/text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/tables.h"
#include "ir/text/grammar.h"
#include "ir/text/lexical.h"
#include "ir/text/printer.h"
#include "ir/text/values.h"

namespace perfc {
namespace {

using text::Argument;
using text::Definition;
using text::Reference;

/// Results that a call may claim to have without saying their types.
constexpr std::uint32_t kMaxUntypedResults = 256;

/// Byte of the source → line and column.
class Lines {
 public:
  explicit Lines(std::string_view source) : source_(source) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\n') starts_.push_back(i + 1);
    }
  }
  SourceLoc locate(const char* at) const {
    const auto offset = static_cast<std::size_t>(at - source_.data());
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
    return {.line = static_cast<std::int32_t>(next - starts_.begin()),
            .column = static_cast<std::int32_t>(offset - *(next - 1)) + 1};
  }

 private:
  std::string_view source_;
  std::vector<std::size_t> starts_{0};
};

/// Where a value is written: at its `%`.
const char* place(const Reference& r) { return r.name.text.data() - 1; }

/// A function whose body is being read.
struct Frame {
  explicit Frame(const Diagnostics& diags) : messages(diags.file()), builder(messages) {}

  Diagnostics messages;  // the builder's, passed on after each call
  GraphBuilder builder;
  text::Header header;
  std::size_t placed_params = 0;
  std::unordered_map<std::string_view, NodeId> names;
  std::vector<bool> broken;  // by node: stands for one that failed
  bool failed = false;

  std::optional<text::Statement> call;  // whose regions are being read
  std::vector<GraphRef> regions;
};

class Parser : public text::Messages {
 public:
  Parser(std::string_view source, Diagnostics& diags) : lines_(source), reader_(source), diags_(diags) {}

  Result<Graph> file();

  Failure error(const char* at, std::string message) override {
    return diags_.error(lines_.locate(at), {}, std::move(message));
  }

 private:
  Failure syntax_error() { return error(reader_.error_at(), reader_.error()); }
  Frame& top() { return *frames_.back(); }

  Status check_version();
  /// Reads one construct of the innermost function. Sets `main_` at the end of the outermost.
  Status step();
  Status open(bool region);
  Status close();

  void place_params();
  void place_missing_params();
  bool claim(const Reference& target);
  void fill(bool good);
  Status definition(text::Statement& statement, std::vector<GraphRef> regions);
  Status constant(const text::Statement& statement, SourceLoc loc);
  Status call(const text::Statement& statement, std::vector<GraphRef> regions, SourceLoc loc);
  Status types(const text::Statement& statement, CallSpec& spec);
  Status arguments(const Definition& definition, CallSpec& spec);
  Result<OpId> operator_named(text::Word);
  Result<ValueId> value(const Reference&);
  Status pass_on(const text::Statement& statement, const CallSpec& spec, NodeId id);
  Result<std::string> node_name(text::Word target, text::Word name);

  Lines lines_;
  text::Reader reader_;
  Diagnostics& diags_;
  std::vector<std::unique_ptr<Frame>> frames_;
  std::optional<Graph> main_;
  bool failed_ = false;
};

Result<Graph> Parser::file() {
  if (!check_version() || !open(false)) return Failure{};
  while (!frames_.empty()) {
    if (!step()) return Failure{};
    if (diags_.errors() >= Diagnostics::kMaxKept) return diags_.error("too many errors");
  }
  if (!reader_.end_of_file()) return syntax_error();
  if (failed_) return Failure{};
  return std::move(*main_);
}

Status Parser::check_version() {
  text::Word version;
  if (!reader_.version(version)) return syntax_error();
  if (version.text != text::quoted(kTextVersion)) {
    return error(version.text.data(),
                 fmt::format("this is version {}; perfc reads \"{}\"", version.text, kTextVersion));
  }
  return ok();
}

Status Parser::open(bool region) {
  auto frame = std::make_unique<Frame>(diags_);
  if (!(region ? reader_.open_region(frame->header) : reader_.open_file(frame->header))) return syntax_error();
  if (frames_.size() > kMaxTextDepth) {
    return error(frame->header.name.text.data(), fmt::format("regions are nested deeper than {}", kMaxTextDepth));
  }
  frames_.push_back(std::move(frame));
  return ok();
}

Status Parser::step() {
  const char next = reader_.peek();
  if (top().call) {
    if (next != '}') return open(true);
    if (!reader_.close_regions()) return syntax_error();
    text::Statement statement = std::move(*top().call);
    top().call.reset();
    if (!definition(statement, std::exchange(top().regions, {}))) top().failed = true;
    return ok();
  }
  if (next == '(') return close();
  text::Statement statement;
  if (!reader_.statement(statement)) return syntax_error();
  place_params();
  if (!claim(statement.target)) return Failure{};
  if (statement.opens_regions) {
    if (statement.definition.kind != Definition::Kind::Call) {
      return error(place(statement.target), "only calls have regions");
    }
    top().call = std::move(statement);
    return ok();
  }
  if (!definition(statement, {})) top().failed = true;
  return ok();
}

/// The end of a function: its results, and what its header says of them.
Status Parser::close() {
  text::Returned returned;
  if (!reader_.returned(returned)) return syntax_error();
  place_params();
  place_missing_params();
  Frame& f = top();
  std::vector<ValueId> results;
  std::vector<std::string> names;
  for (const Reference& r : returned.values) {
    const auto v = value(r);
    f.failed |= !v;
    results.push_back(v ? *v : ValueId{});
  }
  const auto& declared = f.header.results;
  if (f.header.has_results && declared.size() != returned.values.size()) {
    error(f.header.name.text.data(),
          fmt::format("the header lists {} results, the body returns {}", declared.size(), returned.values.size()));
    f.failed = true;
  }
  for (std::size_t i = 0; i < declared.size(); ++i) {
    auto name = text::name(declared[i].name, *this);
    const auto type = text::type(declared[i].type, *this);
    f.failed |= !name || !type;
    if (name) names.push_back(std::move(*name));
    if (!type || i >= results.size() || !results[i]) continue;
    bool conflict = false;
    (void)merge(f.builder.type(results[i]), *type, &conflict);
    if (!conflict) continue;
    error(declared[i].type.keyword.text.data(), fmt::format("result {} is {}, the header says {}", i,
                                                            to_string(f.builder.type(results[i])), to_string(*type)));
    f.failed = true;
  }
  auto name = text::name(f.header.name, *this);
  const bool good = name && !f.failed;
  std::optional<Graph> graph;
  if (good) graph = f.builder.finish(std::move(*name), std::move(results), std::move(names));
  frames_.pop_back();
  if (!good) failed_ = true;
  if (frames_.empty()) {
    main_ = std::move(graph);
  } else {
    top().regions.push_back(good ? std::make_shared<const Graph>(std::move(*graph)) : nullptr);
  }
  return ok();
}

/// Adds the params whose turn it is: those by name at once, numbered ones at
/// their number.
void Parser::place_params() {
  Frame& f = top();
  while (f.placed_params < f.header.params.size()) {
    const text::Param& p = f.header.params[f.placed_params];
    const auto number = text::number(p.target.name.text);
    if (number && *number != f.builder.size()) return;
    ++f.placed_params;
    if (!claim(p.target)) continue;
    const SourceLoc loc = lines_.locate(place(p.target));
    auto name = node_name(p.target.name, p.name);
    auto type = text::type(p.type, *this);
    Result<DataRef> contents = DataRef{};
    if (type && p.contents) contents = text::contents(*p.contents, *this);
    bool good = name && type && contents;
    if (good && !*type) {
      error(p.type.keyword.text.data(), "a param needs a type");
      good = false;
    }
    if (good && *contents) { good = static_cast<bool>(check_contents(**contents, *type, place(p.target), *this)); }
    if (good) f.builder.var(std::move(*type), std::move(*name), loc, std::move(*contents));
    fill(good);
  }
}

/// At the end of a body no param may still wait for its number.
void Parser::place_missing_params() {
  Frame& f = top();
  for (; f.placed_params < f.header.params.size(); ++f.placed_params) {
    const Reference& target = f.header.params[f.placed_params].target;
    error(place(target), fmt::format("param %{} has a number that no value precedes; the next is %{}", target.name.text,
                                     f.builder.size()));
    f.failed = true;
  }
}

/// Checks that `target` may name the next node.
bool Parser::claim(const Reference& target) {
  Frame& f = top();
  const std::string_view word = target.name.text;
  if (const auto number = text::number(word)) {
    if (*number == f.builder.size()) return true;
    error(place(target), fmt::format("values are numbered in order: %{} is next, not %{}", f.builder.size(), word));
  } else if (!text::is_identifier(word)) {
    error(place(target), fmt::format("'%{}' is neither a number nor an identifier", word));
  } else if (!f.names.emplace(word, static_cast<NodeId>(f.builder.size())).second) {
    error(place(target), fmt::format("%{} is already defined", word));
  } else {
    return true;
  }
  f.failed = true;
  return false;
}

/// Keeps the numbering in step: a node that failed leaves a stand-in.
void Parser::fill(bool good) {
  Frame& f = top();
  f.failed |= !good;
  if (f.builder.size() == f.broken.size()) f.builder.constant({});
  f.broken.push_back(!good);
}

/// `%x` names its node "x"; an `@name` may give it another.
Result<std::string> Parser::node_name(text::Word target, text::Word name) {
  if (name) return text::name(name, *this);
  return text::is_identifier(target.text) ? std::string(target.text) : std::string();
}

Status Parser::definition(text::Statement& s, std::vector<GraphRef> regions) {
  const SourceLoc loc = lines_.locate(place(s.target));
  const Status made = s.definition.kind == Definition::Kind::Call ? call(s, std::move(regions), loc) : constant(s, loc);
  fill(static_cast<bool>(made));
  return made;
}

Status Parser::constant(const text::Statement& s, SourceLoc loc) {
  const Definition& d = s.definition;
  if (s.count) return error(s.count.text.data(), "a constant has one result");
  auto name = node_name(s.target.name, d.name);
  auto literal = text::literal(d.kind == Definition::Kind::Const ? &d.contents : nullptr, d.types.front(), *this);
  if (!name || !literal) return Failure{};
  if (!literal->type) return error(d.types.front().keyword.text.data(), "a constant needs a type");
  if (top().builder.size() >= GraphBuilder::kMaxNodes) {
    return error(place(s.target), fmt::format("more than {} nodes", GraphBuilder::kMaxNodes));
  }
  if (d.table) {
    add_table(top().builder, std::move(*literal), std::move(*name), loc);
  } else if (d.zeros) {
    add_zeros(top().builder, std::move(literal->type), std::move(*name), loc);
  } else {
    top().builder.constant(std::move(*literal), std::move(*name), loc);
  }
  return ok();
}

Status Parser::call(const text::Statement& s, std::vector<GraphRef> regions, SourceLoc loc) {
  CallSpec spec{.op = {}, .regions = std::move(regions), .loc = loc};
  const auto op = operator_named(s.definition.op);
  auto name = node_name(s.target.name, s.definition.name);
  const Status typed = types(s, spec);
  const Status given = arguments(s.definition, spec);
  if (!op || !name || !typed || !given) return Failure{};
  if (std::find(spec.regions.begin(), spec.regions.end(), nullptr) != spec.regions.end()) return Failure{};
  spec.op = *op;
  spec.name = std::move(*name);
  const CallSpec copy{.op = spec.op, .declared = spec.declared};
  const auto id = top().builder.call(std::move(spec));
  if (!id) {
    diags_.append(std::exchange(top().messages, Diagnostics(diags_.file())));
    return Failure{};
  }
  return pass_on(s, copy, *id);
}

/// What the builder had to say, except that a contradicted annotation is an error here.
Status Parser::pass_on(const text::Statement& s, const CallSpec& spec, NodeId id) {
  const Diagnostics said = std::exchange(top().messages, Diagnostics(diags_.file()));
  const Node& n = top().builder.node(id);
  Status status = ok();
  for (std::size_t i = 0; i < spec.declared.size(); ++i) {
    bool conflict = false;
    (void)merge(n.results[i].type, spec.declared[i], &conflict);
    if (conflict) {
      status = error(s.definition.types[i].keyword.text.data(),
                     fmt::format("{}: result {} is {}, the text says {}", def(spec.op).name, i,
                                 to_string(n.results[i].type), to_string(spec.declared[i])));
    }
  }
  if (status) diags_.append(said);
  return status;
}

Status Parser::types(const text::Statement& s, CallSpec& spec) {
  const Definition& d = s.definition;
  const auto count = s.count ? text::number(s.count.text) : 1;
  if (!count || *count > GraphBuilder::kMaxNodes) return error(s.count.text.data(), "too many results");
  if (d.typed && d.types.size() != *count) {
    return error(d.op.text.data(), fmt::format("{} results, but {} types; `%{}:{} =` names that many results", *count,
                                               d.types.size(), s.target.name.text, d.types.size()));
  }
  if (!d.typed && *count > kMaxUntypedResults) {
    return error(s.count.text.data(), fmt::format("more than {} results need their types", kMaxUntypedResults));
  }
  spec.results = static_cast<int>(*count);
  for (const text::TypeText& t : d.types) {
    auto type = text::type(t, *this);
    if (!type) return Failure{};
    spec.declared.push_back(std::move(*type));
  }
  return ok();
}

Status Parser::arguments(const Definition& d, CallSpec& spec) {
  struct Named {
    std::string name;
    const char* at;
    Attr value;
  };
  std::vector<Named> named;
  Status status = ok();
  for (const Argument& a : d.arguments) {
    if (a.kind == Argument::Kind::Attribute) {
      auto name = text::name(a.name, *this);
      auto value = text::attribute(a.attribute, *this);
      if (!name || !value) return Failure{};
      named.push_back({std::move(*name), a.name.text.data(), std::move(*value)});
      continue;
    }
    if (!named.empty()) {
      const char* at = a.kind == Argument::Kind::Value ? place(a.value) : d.op.text.data();
      return error(at, "operands come before attributes");
    }
    const auto v = a.kind == Argument::Kind::Value ? value(a.value) : Result<ValueId>(ValueId{});
    if (v) {
      spec.operands.push_back(*v);
    } else {
      status = Failure{};
    }
  }
  std::stable_sort(named.begin(), named.end(), [](const Named& a, const Named& b) { return a.name < b.name; });
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (i > 0 && named[i].name == named[i - 1].name) {
      return error(named[i].at, fmt::format("attribute '{}' is given twice", named[i].name));
    }
    spec.attrs.set(named[i].name, std::move(named[i].value));
  }
  return status;
}

Result<OpId> Parser::operator_named(text::Word word) {
  const auto found = find_op(word.text);
  if (found) return found;
  std::vector<std::string> names;
  for (const OpDef* d : op_table()) names.emplace_back(d->name);
  const std::string near = did_you_mean(word.text.substr(0, 64), names);
  return error(word.text.data(), fmt::format("unknown operator '{}'{}", word.text,
                                             near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

/// A use. Silent where the node it refers to has failed before.
Result<ValueId> Parser::value(const Reference& r) {
  Frame& f = top();
  const std::string_view word = r.name.text;
  std::optional<NodeId> id = text::number(word);
  if (!id) {
    const auto known = f.names.find(word);
    if (known != f.names.end()) id = known->second;
  }
  if (!id || *id >= f.builder.size()) {
    return error(place(r), fmt::format("%{} is not defined before this use", word));
  }
  if (f.broken[*id]) return Failure{};
  const auto result = r.result ? text::number(r.result.text) : 0;
  const std::size_t results = f.builder.node(*id).results.size();
  if (!result || *result >= results) {
    return error(place(r), fmt::format("%{} has {} result{}, there is no .{}", word, results, results == 1 ? "" : "s",
                                       r.result ? r.result.text : "0"));
  }
  return ValueId{*id, *result};
}

}  // namespace

Result<Graph> parse_graph(std::string_view text, Diagnostics& diags) { return Parser(text, diags).file(); }

}  // namespace perfc
