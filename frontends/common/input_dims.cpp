#include "frontends/common/input_dims.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/support/text.h"

namespace perfc {
namespace {

Type with_shape(const Type& t, Shape shape) {
  return t.kind() == TypeKind::SparseTensor ? Type::sparse(t.dtype(), std::move(shape))
                                            : Type::tensor(t.dtype(), std::move(shape));
}

/// Does a leading symbol mean the batch? Exporters leave "batch", "N", "bs",
/// "batch_size", "unk__12", …; a sequence length must not be taken for one.
bool batch_like(std::string_view symbol) {
  const std::string s = lower(symbol);
  for (std::string_view no : {"seq", "len", "time", "step", "token", "height", "width"}) {
    if (s.find(no) != std::string::npos && s.find("batch") == std::string::npos) return false;
  }
  return true;
}

}  // namespace

InputDims::InputDims(const ImportOptions& options) : options_(options) {
  for (const auto& [name, value] : options.dims) values_[name] = value;
}

Status InputDims::apply(std::vector<ModelInput>& inputs, Diagnostics& diags) {
  if (!replace_shapes(inputs, diags)) return Failure{};
  if (options_.open_batch) open_batch(inputs);
  if (!check_names(inputs, diags)) return Failure{};
  for (ModelInput& input : inputs) {
    input.type = bind(input.type);
    if (!input.type.is_tensor() || !input.type.ranked()) continue;
    Shape shape = input.type.shape();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d].known() || shape[d].symbolic()) continue;
      if (d == 0 && options_.open_batch) {
        shape[d] = Dim(*options_.open_batch);
        continue;
      }
      const std::string symbol = fmt::format("{}.{}", input.name, d);
      const auto bound = values_.find(symbol);
      shape[d] = bound != values_.end() ? Dim(bound->second) : Dim::symbol(symbol);
    }
    input.type = with_shape(input.type, std::move(shape));
  }
  return ok();
}

Status InputDims::check_names(const std::vector<ModelInput>& inputs, Diagnostics& diags) const {
  if (options_.dims.empty()) return ok();
  std::vector<std::string> open;
  for (const ModelInput& input : inputs) {
    if (!input.type.is_tensor() || !input.type.ranked()) continue;
    for (std::size_t d = 0; d < input.type.rank(); ++d) {
      const Dim& dim = input.type.shape()[d];
      if (dim.symbolic()) open.push_back(dim.symbol_name());
      if (!dim.symbolic() && !dim.known()) open.push_back(fmt::format("{}.{}", input.name, d));
    }
  }
  for (const auto& [name, value] : options_.dims) {
    if (std::find(open.begin(), open.end(), name) != open.end()) continue;
    const std::string near = did_you_mean(name, open);
    return diags.error(fmt::format("--dim: no input has a dim named '{}'{}", name,
                                   !near.empty()  ? fmt::format(" (did you mean '{}'?)", near)
                                   : open.empty() ? std::string("; none of its dims is open")
                                                  : fmt::format("; open are {}", fmt::join(open, ", "))));
  }
  return ok();
}

Status InputDims::replace_shapes(std::vector<ModelInput>& inputs, Diagnostics& diags) {
  for (const auto& [wanted, dims] : options_.shapes) {
    const auto it = wanted.empty() && inputs.size() == 1
                        ? inputs.begin()
                        : std::find_if(inputs.begin(), inputs.end(),
                                       [&, &name = wanted](const ModelInput& i) { return i.name == name; });
    if (it == inputs.end()) {
      std::vector<std::string> names;
      for (const ModelInput& i : inputs) names.emplace_back(i.name);
      const std::string near = wanted.empty() ? "" : did_you_mean(wanted, names);
      return diags.error(fmt::format("--shape: {}{}; the inputs are {}",
                                     wanted.empty() ? "name the input, as in --shape NAME=1,3,224,224"
                                                    : fmt::format("no input is named '{}'", wanted),
                                     near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                                     fmt::join(names, ", ")));
    }
    if (!it->type.is_tensor()) return diags.error({}, it->name, "--shape: the input is not a tensor");
    if (it->type.ranked() && it->type.rank() != dims.size()) {
      return diags.error({}, it->name,
                         fmt::format("--shape: {} dims given, the input has {}: {}", dims.size(), it->type.rank(),
                                     to_string(it->type)));
    }
    Shape shape;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 0) return diags.error({}, it->name, fmt::format("--shape: negative dim {}", dims[i]));
      if (it->type.ranked()) {
        const Dim& old = it->type.shape()[i];
        if (old.symbolic()) values_.emplace(old.symbol_name(), dims[i]);
        if (old.known() && old.value() != dims[i]) overridden_ = true;
      }
      shape.emplace_back(dims[i]);
    }
    it->type = with_shape(it->type, std::move(shape));
  }
  return ok();
}

void InputDims::open_batch(const std::vector<ModelInput>& inputs) {
  for (const ModelInput& i : inputs) {
    if (!i.type.is_tensor() || !i.type.ranked() || i.type.rank() == 0) continue;
    const Dim& lead = i.type.shape()[0];
    if (lead.symbolic() && batch_like(lead.symbol_name())) {
      values_.emplace(lead.symbol_name(), *options_.open_batch);
    }
  }
}

Type InputDims::bind(const Type& type) const {
  if (values_.empty()) return type;
  switch (type.kind()) {
    case TypeKind::Sequence:
      return Type::sequence(bind(type.element()));
    case TypeKind::Optional:
      return Type::optional(bind(type.element()));
    case TypeKind::Map:
      return Type::map(type.dtype(), bind(type.element()));
    case TypeKind::Tensor:
    case TypeKind::SparseTensor:
      break;
    case TypeKind::None:
    case TypeKind::Opaque:
      return type;
  }
  if (!type.ranked()) return type;
  Shape shape = type.shape();
  for (Dim& d : shape) {
    if (!d.symbolic()) continue;
    const auto it = values_.find(d.symbol_name());
    if (it != values_.end()) d = Dim(it->second);
  }
  return with_shape(type, std::move(shape));
}

}  // namespace perfc
