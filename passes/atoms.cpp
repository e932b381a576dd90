#include "passes/atoms.h"

#include <algorithm>
#include <numeric>

namespace perfc::passes {

AtomList Atoms::add(std::int64_t extent) {
  if (extent == 1) return {};
  atoms_.push_back({extent, std::nullopt});
  return {static_cast<Atom>(atoms_.size() - 1)};
}

AtomList Atoms::parts(const AtomList& list) const {
  AtomList out, todo(list.rbegin(), list.rend());
  while (!todo.empty()) {
    const Atom a = todo.back();
    todo.pop_back();
    if (const auto& split = atoms_[a].split) {
      todo.push_back(split->second);
      todo.push_back(split->first);
    } else {
      out.push_back(a);
    }
  }
  return out;
}

AtomLayout Atoms::parts(const AtomLayout& layout) const {
  AtomLayout out;
  for (const AtomList& dim : layout) out.push_back(parts(dim));
  return out;
}

AtomList Atoms::flat(const AtomLayout& layout) const {
  AtomList out;
  for (const AtomList& dim : layout) out.insert(out.end(), dim.begin(), dim.end());
  return parts(out);
}

std::int64_t Atoms::extent(const AtomList& list) const {
  std::int64_t out = 1;  // of a tensor's dims, whose product was checked
  for (const Atom a : list) out *= atoms_[a].extent;
  return out;
}

std::vector<std::int64_t> Atoms::shape(const AtomLayout& layout) const {
  std::vector<std::int64_t> out;
  for (const AtomList& dim : layout) out.push_back(extent(dim));
  return out;
}

std::optional<AtomLayout> Atoms::reshaped(const AtomLayout& layout, const Shape& shape) {
  AtomList rest = flat(layout);
  std::reverse(rest.begin(), rest.end());
  AtomLayout out;
  for (const Dim& d : shape) {
    if (!d.known() || d.value() < 1) return std::nullopt;
    AtomList& dim = out.emplace_back();
    std::int64_t wanted = d.value();
    while (wanted > 1) {
      if (rest.empty()) return std::nullopt;
      const Atom a = rest.back();
      const std::int64_t has = atoms_[a].extent;
      if (wanted % has == 0) {
        rest.pop_back();
        dim.push_back(a);
        wanted /= has;
        continue;
      }
      if (has % wanted != 0) return std::nullopt;
      const AtomList outer = add(wanted), inner = add(has / wanted);
      atoms_[a].split = {outer[0], inner[0]};
      rest.back() = inner[0];
      dim.push_back(outer[0]);
      wanted = 1;
    }
  }
  return rest.empty() ? std::optional(parts(out)) : std::nullopt;
}

namespace {

using Order = std::vector<std::int64_t>;

/// Dims of `layout` in the order in which `flat` has their atoms, those of extent 1 first; empty where its atoms are
/// not those of the dims, one dim after the other.
Order in_order_of(const AtomList& flat, const AtomLayout& layout) {
  Order order(layout.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) {
    const AtomList& dim = layout[static_cast<std::size_t>(i)];
    return dim.empty() ? -1 : std::ranges::find(flat, dim.front()) - flat.begin();
  });
  AtomList all;
  for (const std::int64_t i : order) {
    const AtomList& dim = layout[static_cast<std::size_t>(i)];
    all.insert(all.end(), dim.begin(), dim.end());
  }
  return all == flat ? order : Order{};
}

AtomLayout permuted(const AtomLayout& layout, const Order& order) {
  AtomLayout out;
  for (const std::int64_t i : order) out.push_back(layout[static_cast<std::size_t>(i)]);
  return out;
}

/// Runs of atoms that stay together, as dims of the source.
AtomLayout runs_of(const AtomList& source, const AtomList& target) {
  AtomLayout runs;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto at = i == 0 ? target.end() : std::ranges::find(target, source[i - 1]);
    if (at != target.end() && at + 1 != target.end() && at[1] == source[i]) runs.back().push_back(source[i]);
    else runs.push_back({source[i]});
  }
  return runs;
}

}  // namespace

Rearranged rearranged(const Atoms& atoms, const AtomLayout& from, const AtomLayout& to) {
  Rearranged out;
  if (from == to) return out;
  const AtomList source = atoms.flat(from), target = atoms.flat(to);
  if (source == target) {
    out.merged = atoms.shape(to);
    return out;
  }
  // The target's dims as they lie in the source, or the source's dims as the target has them, or neither.
  const Order cut = in_order_of(source, to);
  AtomLayout dims = cut.empty() ? from : permuted(to, cut);
  Order order(cut.size());
  for (std::size_t i = 0; i < cut.size(); ++i) order[static_cast<std::size_t>(cut[i])] = static_cast<std::int64_t>(i);
  if (cut.empty()) order = in_order_of(target, dims);
  if (order.empty() && !target.empty()) {
    dims = runs_of(source, target);
    order = in_order_of(target, dims);
  }
  if (std::ranges::is_sorted(order)) {
    out.merged = atoms.shape(to);
    return out;
  }
  if (dims != from) out.split = atoms.shape(dims);
  if (permuted(dims, order) != to) out.merged = atoms.shape(to);
  out.perm = std::move(order);
  return out;
}

Result<ValueId> viewed(GraphBuilder& b, ValueId v, const Rearranged& by, const Node& n) {
  Result<ValueId> out = v;
  const auto reshape = [&](const std::vector<std::int64_t>& shape) {
    if (shape.empty() || !out) return;
    out = b.value(
        {.op = op("reshape"), .operands = {*out, b.constant(int64_vector(shape))}, .name = n.name, .loc = n.loc});
  };
  reshape(by.split);
  if (!by.perm.empty() && out)
    out = b.value(
        {.op = op("transpose"), .operands = {*out}, .attrs = {{"perm", by.perm}}, .name = n.name, .loc = n.loc});
  reshape(by.merged);
  return out;
}

}  // namespace perfc::passes
