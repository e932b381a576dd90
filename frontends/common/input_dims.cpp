#include "frontends/common/input_dims.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontends/common/input_values.h"
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

std::string listed(const std::vector<std::int64_t>& dims) { return fmt::format("{}", fmt::join(dims, ",")); }

}  // namespace

bool names_batch(std::string_view dim) {
  const std::string name = lower(dim);
  return name.find("batch") != std::string::npos || name == "bs";
}

Result<std::size_t> find_input(const std::vector<ModelInput>& inputs, const std::string& name, std::string_view flag,
                               std::string_view example, Diagnostics& diags) {
  if (name.empty() && inputs.size() == 1) return std::size_t{0};
  const auto it = std::ranges::find_if(inputs, [&](const ModelInput& i) { return i.name == name; });
  if (it != inputs.end()) return static_cast<std::size_t>(it - inputs.begin());
  std::vector<std::string> names;
  names.reserve(inputs.size());
  for (const ModelInput& i : inputs) names.emplace_back(i.name);
  const std::string near = name.empty() ? "" : did_you_mean(name, names);
  return diags.error(fmt::format("{}: {}{}; the inputs are {}", flag,
                                 name.empty() ? fmt::format("name the input, as in {} {}", flag, example)
                                              : fmt::format("no input is named '{}'", name),
                                 near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                                 fmt::join(names, ", ")));
}

InputDims::InputDims(const ImportOptions& options) : options_(options) {}

Status InputDims::bind_name(const std::string& name, std::int64_t value, const std::string& flag, Diagnostics& diags) {
  const auto [at, fresh] = values_.emplace(name, value);
  if (fresh) flags_[name] = flag;
  if (at->second == value) return ok();
  return diags.error(
      fmt::format("dim '{}' cannot be both {} ({}) and {} ({})", name, at->second, flags_[name], value, flag));
}

Status InputDims::apply(std::vector<ModelInput>& inputs, Diagnostics& diags) {
  for (const auto& [name, value] : options_.dims) {
    if (!bind_name(name, value, fmt::format("--dim {}={}", name, value), diags)) return Failure{};
  }
  if (!replace_shapes(inputs, diags) || !take_lengths(inputs, diags) || !check_batch_axes(inputs, diags))
    return Failure{};
  if (options_.open_batch) open_batch(inputs);
  if (!check_names(inputs, diags)) return Failure{};
  for (ModelInput& input : inputs) {
    input.type = bind(input.type);
    if (!input.type.is_tensor() || !input.type.ranked()) continue;
    Shape shape = input.type.shape();
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (shape[d].known() || shape[d].symbolic()) continue;
      const std::string symbol = fmt::format("{}.{}", input.name, d);
      const auto bound = values_.find(symbol);
      if (bound != values_.end()) {
        shape[d] = Dim(bound->second);
      } else if (d == place(input).axis && options_.open_batch) {
        shape[d] = Dim(*options_.open_batch);
        if (options_.binds_open_batch) *options_.binds_open_batch = true;
      } else {
        shape[d] = Dim::symbol(symbol);
      }
    }
    for (const Dim& d : shape) {
      if (d.symbolic()) open_.emplace(d.symbol_name());
    }
    input.type = with_shape(input.type, std::move(shape));
  }
  return fill(inputs, diags);
}

BatchPlace InputDims::place(const ModelInput& input) const {
  const bool ranked = input.type.is_tensor() && input.type.ranked();
  return batch_place(options_.batch_axes, input.name, ranked ? input.type.rank() : 0);
}

Status InputDims::check_names(const std::vector<ModelInput>& inputs, Diagnostics& diags) const {
  if (options_.dims.empty()) return ok();
  std::vector<std::string> open;
  const auto add = [&](std::string name) {
    if (std::ranges::find(open, name) == open.end()) open.push_back(std::move(name));
  };
  for (const ModelInput& input : inputs) {
    if (!input.type.is_tensor() || !input.type.ranked()) continue;
    for (std::size_t d = 0; d < input.type.rank(); ++d) {
      const Dim& dim = input.type.shape()[d];
      if (dim.symbolic()) add(dim.symbol_name());
      if (!dim.symbolic() && !dim.known()) add(fmt::format("{}.{}", input.name, d));
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

Status InputDims::check_batch_axes(const std::vector<ModelInput>& inputs, Diagnostics& diags) const {
  for (const BatchAxis& a : options_.batch_axes) {
    const bool named = std::ranges::any_of(inputs, [&](const ModelInput& i) { return i.name == a.input; });
    if (!named && a.input == kAllInputs) continue;
    const auto found = find_input(inputs, a.input, "--batch-axis", "NAME=1", diags);
    if (!found) return Failure{};
    const ModelInput& input = inputs[*found];
    if (!input.type.is_tensor()) return diags.error({}, input.name, "--batch-axis: the input is not a tensor");
    for (const BatchAxis& other : options_.batch_axes) {
      if (other.input == a.input && other.axis != a.axis)
        return diags.error({}, input.name, "--batch-axis: two axes are given for the input; give one");
    }
    if (a.axis && input.type.ranked() && !(place(input).given && place(input).axis)) {
      return diags.error({}, input.name,
                         fmt::format("--batch-axis: the input has no dim {}: {}", *a.axis, to_string(input.type)));
    }
  }
  return ok();
}

Status InputDims::replace_shapes(std::vector<ModelInput>& inputs, Diagnostics& diags) {
  std::map<std::size_t, const std::vector<std::int64_t>*> given;
  for (const auto& [wanted, dims] : options_.shapes) {
    const auto found = find_input(inputs, wanted, "--shape", "NAME=1,3,224,224", diags);
    if (!found) return Failure{};
    ModelInput& input = inputs[*found];
    if (!input.type.is_tensor()) return diags.error({}, input.name, "--shape: the input is not a tensor");
    const auto [before, first] = given.emplace(*found, &dims);
    if (!first && *before->second != dims) {
      return diags.error({}, input.name,
                         fmt::format("--shape: two shapes are given for the input, {} and {}; give one",
                                     listed(*before->second), listed(dims)));
    }
    if (!first) continue;
    if (input.type.ranked() && input.type.rank() != dims.size()) {
      return diags.error({}, input.name,
                         fmt::format("--shape: {} dims given, the input has {}: {}", dims.size(), input.type.rank(),
                                     to_string(input.type)));
    }
    Shape shape;
    for (std::size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] < 0) return diags.error({}, input.name, fmt::format("--shape: negative dim {}", dims[i]));
      if (input.type.ranked()) {
        const Dim& old = input.type.shape()[i];
        const std::string flag = fmt::format("--shape {}={}", input.name, listed(dims));
        if (old.symbolic() && !bind_name(old.symbol_name(), dims[i], flag, diags)) return Failure{};
        if (old.known() && old.value() != dims[i]) overridden_ = true;
      }
      shape.emplace_back(dims[i]);
    }
    input.type = with_shape(input.type, std::move(shape));
  }
  return ok();
}

Status InputDims::take_lengths(const std::vector<ModelInput>& inputs, Diagnostics& diags) {
  for (const auto& [name, words] : options_.values) {
    const auto found = find_input(inputs, name, "--value", "NAME=1", diags);
    if (!found) return Failure{};
    const ModelInput& input = inputs[*found];
    if (input.type.kind() != TypeKind::Tensor)
      return diags.error({}, input.name, fmt::format("--value: the input is {}, no tensor", to_string(input.type)));
    if (words.size() == 1 || !input.type.ranked() || input.type.rank() != 1 || input.type.shape()[0].known()) continue;
    const Dim& length = input.type.shape()[0];
    if (!bind_name(length.symbolic() ? length.symbol_name() : fmt::format("{}.0", input.name),
                   static_cast<std::int64_t>(words.size()),
                   fmt::format("--value {} of {} numbers", input.name, words.size()), diags))
      return Failure{};
  }
  return ok();
}

Status InputDims::fill(std::vector<ModelInput>& inputs, Diagnostics& diags) const {
  for (const auto& [name, words] : options_.values) {
    const auto found = find_input(inputs, name, "--value", "NAME=1", diags);
    if (!found) return Failure{};
    ModelInput& input = inputs[*found];
    if (input.data) return diags.error({}, input.name, "--value: the input is given twice");
    // A scripted program leaves the element type open: what is given tells.
    if (input.type.dtype() == DType::Undefined) input.type = input.type.with_dtype(dtype_of_words(words));
    auto data = contents(input, words, diags);
    if (!data) return Failure{};
    input.data = *std::move(data);
  }
  return ok();
}

void InputDims::open_batch(const std::vector<ModelInput>& inputs) {
  // A name on another dim of an input whose batch the user placed is none of a batch.
  std::set<std::string> elsewhere;
  for (const ModelInput& i : inputs) {
    if (!i.type.is_tensor() || !i.type.ranked() || !place(i).given) continue;
    for (std::size_t d = 0; d < i.type.rank(); ++d) {
      if (i.type.shape()[d].symbolic() && d != place(i).axis) elsewhere.insert(i.type.shape()[d].symbol_name());
    }
  }
  for (const ModelInput& i : inputs) {
    if (!i.type.is_tensor() || !i.type.ranked()) continue;
    const BatchPlace at = place(i);
    if (!at.axis || !i.type.shape()[*at.axis].symbolic()) continue;
    const std::string name(i.type.shape()[*at.axis].symbol_name());
    if (!at.given && (!batch_like(name) || elsewhere.contains(name))) continue;
    values_.emplace(name, *options_.open_batch);
    if (options_.binds_open_batch) *options_.binds_open_batch = true;
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

std::string dim_flags(const std::set<std::string>& names) {
  return fmt::format("--dim {}=N", fmt::join(names, "=N --dim "));
}

}  // namespace perfc
