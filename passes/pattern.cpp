#include "passes/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace perfc::passes {

std::vector<std::optional<NodeId>> MatchGraph::readers(const Graph& g) {
  std::vector<std::optional<NodeId>> out(g.size());
  for (NodeId id = 0; id < g.size(); ++id) {
    for (const ValueId v : g.node(id).operands) {
      if (v) out[v.node] = id;
    }
  }
  return out;
}

bool MatchGraph::is_scalar(ValueId v) const {
  if (!is_weight(v) || !type(v).is_tensor() || type(v).elements() != 1) return false;
  const Data* data = graph.data(v);
  return contents == Contents::Types || (data && data->fully_known());
}

double MatchGraph::scalar_or(ValueId v, double fallback) const {
  const Data* data = v ? graph.data(v) : nullptr;
  if (!data || data->size() != 1 || !data->fully_known()) return fallback;
  if (const auto* f = data->floats()) return f->front();
  if (const auto* i = data->ints()) return static_cast<double>(i->front().value());
  return fallback;
}

ValueId Match::operator[](std::string_view name) const {
  const auto it = std::find_if(names.begin(), names.end(), [&](const auto& n) { return n.first == name; });
  return it == names.end() ? ValueId{} : it->second;
}

/// Recursive descent over a text that we wrote ourselves.
class PatternParser {
 public:
  PatternParser(Pattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  void run() {
    for (skip(); at_ < text_.size(); skip()) {
      const std::size_t line = at_;
      if (text_[at_] == '%') {
        const std::string name = identifier();
        if (accept('=')) {
          const int value = term();
          auto it = find(name);
          if (it != pattern_.names_.end()) bug("defined after its use: %" + name);
          pattern_.names_.emplace_back(name, value);
          continue;
        }
        at_ = line;
      }
      pattern_.root_ = term();
      skip();
      if (at_ != text_.size()) bug("the root must be last");
    }
    if (pattern_.root_ < 0) bug("no root");
    collect_roots(pattern_.root_);
  }

 private:
  using Names = std::vector<std::pair<std::string, int>>;

  Names::iterator find(const std::string& name) {
    return std::find_if(pattern_.names_.begin(), pattern_.names_.end(), [&](const auto& n) { return n.first == name; });
  }

  int add(Pattern::Term term) {
    pattern_.terms_.push_back(std::move(term));
    return static_cast<int>(pattern_.terms_.size()) - 1;
  }

  int term() {
    skip();
    if (accept('{')) {
      Pattern::Term either{.kind = Pattern::Term::Either};
      do either.children.push_back(term());
      while (accept('|'));
      expect('}');
      return add(std::move(either));
    }
    if (peek() == '%') {
      const std::string name = identifier();
      if (auto it = find(name); it != pattern_.names_.end()) return it->second;
      const int any = add({.kind = Pattern::Term::Any});
      pattern_.names_.emplace_back(name, any);
      return any;
    }
    if (accept('_')) return add({.kind = Pattern::Term::Missing});
    if (peek() == '-' || (peek() >= '0' && peek() <= '9')) {
      char* end = nullptr;
      const std::string rest(text_.substr(at_));
      const double value = std::strtod(rest.c_str(), &end);
      at_ += static_cast<std::size_t>(end - rest.c_str());
      return add({.kind = Pattern::Term::Number, .number = value});
    }
    const std::string name = identifier();
    const auto found = find_op(name);
    if (!found) bug("no operator " + name);
    Pattern::Term call{.kind = Pattern::Term::Call, .op = *found};
    expect('(');
    do call.children.push_back(term());
    while (accept(','));
    expect(')');
    return add(std::move(call));
  }

  std::string identifier() {
    skip();
    const std::size_t start = at_;
    if (peek() == '%') ++at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    if (at_ == start) bug("name expected");
    return std::string(text_.substr(start + (text_[start] == '%'), at_ - start - (text_[start] == '%')));
  }

  void collect_roots(int index) {
    const Pattern::Term& t = pattern_.terms_[index];
    if (t.kind == Pattern::Term::Call) pattern_.roots_.push_back(t.op);
    if (t.kind == Pattern::Term::Either) {
      for (int child : t.children) collect_roots(child);
    }
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(char c) {
    skip();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) bug(fmt::format("'{}' expected", c));
  }
  [[noreturn]] void bug(const std::string& why) const {
    std::fprintf(stderr, "perfc: bad pattern at %zu: %s\n%.*s\n", at_, why.c_str(), static_cast<int>(text_.size()),
                 text_.data());
    std::abort();
  }

  Pattern& pattern_;
  std::string_view text_;
  std::size_t at_ = 0;
};

Pattern::Pattern(std::string_view text) { PatternParser(*this, text).run(); }

/// Backtracking search. Goals are pairs of pattern term and value, worked off
/// from the end; the depth of the search is the size of the pattern.
class PatternMatcher {
 public:
  PatternMatcher(const Pattern& pattern, const MatchGraph& g)
      : pattern_(pattern), g_(g), bound_(pattern.terms_.size()) {}

  bool run(NodeId root, Match& match) {
    root_ = root;
    if (!solve({{pattern_.root_, {root, 0}}})) return false;
    match.root = root;
    match.interior.clear();
    for (NodeId id : calls()) {
      if (id != root) match.interior.push_back(id);
    }
    match.names.clear();
    for (const auto& [name, term] : pattern_.names_) match.names.emplace_back(name, bound_[term]);
    return true;
  }

 private:
  using Goals = SmallVec<std::pair<int, ValueId>, 16>;
  using Term = Pattern::Term;

  bool solve(Goals goals) {
    if (goals.empty()) return nothing_shared();
    const int index = goals.back().first;
    const ValueId value = goals.back().second;
    goals.pop_back();
    const Term& term = pattern_.terms_[index];
    if (term.kind == Term::Missing || !value) return term.kind == Term::Missing && !value && solve(std::move(goals));
    if (bound_[index]) return bound_[index] == value && solve(std::move(goals));
    const auto attempt = [&](Goals next) {
      bound_[index] = value;
      if (solve(std::move(next))) return true;
      bound_[index] = {};
      return false;
    };
    switch (term.kind) {
      case Term::Any:
        return attempt(std::move(goals));
      case Term::Number:
        return is_number(value, term.number) && attempt(std::move(goals));
      case Term::Either:
        return std::any_of(term.children.begin(), term.children.end(), [&](int child) {
          Goals next = goals;
          next.emplace_back(child, value);
          return attempt(std::move(next));
        });
      case Term::Missing:
      case Term::Call:
        break;
    }
    const Node& n = g_.node(value);
    if (!n.is(term.op) || value.result != 0 || n.operands.size() != term.children.size()) return false;
    const bool commutes = term.children.size() == 2 && def(term.op).commutes;
    for (int swap = 0; swap <= (commutes ? 1 : 0); ++swap) {
      bool possible = true;
      for (std::size_t i = 0; i < term.children.size(); ++i) {
        possible = possible && may_match(term.children[i], n.operands[swap ? 1 - i : i]);
      }
      if (!possible) continue;
      Goals next = goals;
      for (std::size_t i = 0; i < term.children.size(); ++i) {
        next.emplace_back(term.children[i], n.operands[swap ? 1 - i : i]);
      }
      if (attempt(std::move(next))) return true;
    }
    return false;
  }

  /// Without looking further than the value itself.
  bool may_match(int index, ValueId value) const {
    const Term& term = pattern_.terms_[index];
    return term.kind != Term::Call || (value && g_.node(value).is(term.op));
  }

  bool is_number(ValueId v, double wanted) const {
    const Data* data = g_.graph.data(v);
    if (!data || data->size() == 0 || !data->fully_known()) return false;
    const auto near = [&](double x) { return std::abs(x - wanted) <= 1e-3 * std::abs(wanted); };
    if (const auto* f = data->floats()) return std::all_of(f->begin(), f->end(), near);
    const auto* i = data->ints();
    return i &&
           std::all_of(i->begin(), i->end(), [&](const SymInt& s) { return near(static_cast<double>(s.value())); });
  }

  std::vector<NodeId> calls() const {
    std::vector<NodeId> ids;
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      if (bound_[i] && pattern_.terms_[i].kind == Term::Call) ids.push_back(bound_[i].node);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  /// Everything but the root is used by matched calls only.
  bool nothing_shared() const {
    const std::vector<NodeId> ids = calls();
    for (NodeId id : ids) {
      if (id == root_) continue;
      std::uint32_t inside = 0;
      for (NodeId user : ids) {
        for (ValueId v : g_.graph.node(user).operands) inside += v && v.node == id;
      }
      if (inside != g_.uses[id]) return false;
    }
    return true;
  }

  const Pattern& pattern_;
  const MatchGraph& g_;
  NodeId root_ = 0;
  std::vector<ValueId> bound_;  // by term
};

bool Pattern::match(const MatchGraph& g, NodeId root, Match& match) const {
  const Node& n = g.graph.node(root);
  if (n.kind != NodeKind::Call || std::find(roots_.begin(), roots_.end(), n.op) == roots_.end()) return false;
  return PatternMatcher(*this, g).run(root, match);
}

}  // namespace perfc::passes
