#include "frontends/openvino/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "frontends/common/raw_data.h"
#include "frontends/openvino/call.h"
#include "frontends/openvino/table.h"

namespace perfc::openvino {
namespace {

/// "model" of "models/model.xml".
std::string stem(std::string_view path) {
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  return std::string(path.substr(0, path.rfind(".xml")));
}

std::string bin_of(std::string_view path) {
  return std::string(path.ends_with(".xml") ? path.substr(0, path.size() - 4) : path) + ".bin";
}

/// "a,b": tensors have several names, the first is the one that people know.
std::string_view first_name(std::string_view names) { return names.substr(0, names.find(',')); }

/// Dims of a parameter: "1,3,?,8..16"; "..." where the rank is open.
Result<Type> parameter_type(const Call& c) {
  const DType dtype = c.dtype_or("element_type", DType::Undefined);
  if (dtype == DType::Undefined)
    return c.error(fmt::format("element type '{}' is not known to perfc", c.text_or("element_type", "")));
  std::string_view rest = c.text_or("shape", "");
  if (rest.find("...") != std::string_view::npos) return Type::unranked(dtype);
  Shape shape;
  while (!rest.empty()) {
    std::string_view entry = next_word(rest, ',');
    while (entry.starts_with(' ')) entry.remove_prefix(1);
    const bool open = entry == "?" || entry == "-1" || entry.find("..") != std::string_view::npos;
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), extent);
    if (!open && (error != std::errc{} || end != entry.data() + entry.size() || extent < 0))
      return c.error(fmt::format("a shape of '{}'", c.text_or("shape", "")));
    shape.push_back(open ? Dim::unknown() : Dim(extent));
  }
  return Type::tensor(dtype, std::move(shape));
}

}  // namespace

Result<Graph> Importer::run() {
  GraphBuilder builder(*diags_);
  Frame frame{.builder = builder, .net = model_.net};
  frame.values.resize(model_.net.layers.size());
  if (!declare_inputs(frame) || !run_layers(frame)) return Failure{};
  std::vector<ValueId> results;
  std::vector<std::string> names;
  for (std::size_t r : model_.net.results) {
    const Layer& l = model_.net.layers[r];
    const Layer::Source& from = l.sources.front();
    const Port& port = model_.net.layers[static_cast<std::size_t>(from.layer)].outputs[from.output];
    results.push_back(frame.values[r].front());
    names.emplace_back(port.names.empty() ? l.name.substr(0, l.name.find("/sink_port_")) : first_name(port.names));
  }
  if (results.empty()) return diags_->error("the model has no results; save it with openvino.save_model");
  return builder.finish(stem(name_), std::move(results), std::move(names));
}

Status Importer::declare_inputs(Frame& frame) {
  std::vector<ModelInput> inputs;
  for (std::size_t i : model_.net.parameters) {
    const Layer& l = model_.net.layers[i];
    auto type = parameter_type(Call(*this, frame, l, {}, nullptr));
    if (!type) return Failure{};
    // People know tensors by the names that they gave them; "Parameter_17" is OpenVINO's.
    const std::string_view tensor = l.outputs.empty() ? std::string_view{} : first_name(l.outputs.front().names);
    inputs.push_back({tensor.empty() ? l.name : tensor, *std::move(type), l.loc});
  }
  if (!dims_.apply(inputs, *diags_)) return Failure{};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    frame.values[model_.net.parameters[i]] = {
        frame.builder.var(inputs[i].type, std::string(inputs[i].name), inputs[i].loc, inputs[i].data)};
  }
  return ok();
}

Type Importer::declared(const Port& port) const { return dims_.overridden() ? Type{} : dims_.bind(port.type); }

Status Importer::run_layers(Frame& frame) {
  bool good = true;
  for (std::size_t i = 0; i < frame.net.layers.size(); ++i) {
    if (!frame.values[i].empty()) continue;  // an input
    auto results = run_layer(frame, frame.net.layers[i]);
    good = good && results;
    if (results) frame.values[i] = *std::move(results);
  }
  return good && !diags_->errors() ? ok() : Status(Failure{});
}

Result<std::vector<ValueId>> Importer::run_layer(Frame& frame, const Layer& l) {
  std::vector<ValueId> operands;
  for (const Layer::Source& s : l.sources) {
    if (s.layer < 0) {
      operands.emplace_back();
      continue;
    }
    const std::vector<ValueId>& made = frame.values[static_cast<std::size_t>(s.layer)];
    if (made.empty()) return Failure{};  // reported where it failed
    operands.push_back(s.output < made.size() ? made[s.output] : ValueId{});
  }
  Call c(*this, frame, l, std::move(operands), find_row(l.type));
  if (l.type == "Parameter") return c.error("a parameter of a body that nothing binds");
  if (l.type == "Result") return one(c.tensor(0));
  if (!c.row) return opaque(c);
  auto results = c.row->translate ? c.row->translate(c) : one_to_one(c);
  if (results && c.opaque) return opaque(c);
  if (!results || !settle(c, *results)) return Failure{};
  return results;
}

Status Importer::settle(Call& c, std::vector<ValueId>& results) {
  for (std::size_t i = 0; i < results.size() && i < c.layer.outputs.size(); ++i) {
    if (!results[i]) continue;
    const Type wanted = c.layer.outputs[i].type, made = c.type(results[i]);
    if (!wanted.is_tensor() || !made.is_tensor()) continue;
    if (wanted.dtype() != made.dtype() && is_integer(wanted.dtype()) && is_integer(made.dtype())) {
      auto cast = c.cast(results[i], wanted.dtype());
      if (!cast) return Failure{};
      results[i] = *cast;
    }
    bool conflict = false;
    (void)merge(c.type(results[i]), declared(c.layer.outputs[i]), &conflict);
    if (conflict)
      c.warning(fmt::format("the result is {}, but the file declares {}; using the former",
                            to_string(c.type(results[i])), to_string(declared(c.layer.outputs[i]))));
  }
  return ok();
}

Result<std::vector<ValueId>> Importer::opaque(Call& c) {
  std::vector<Type> types;
  for (const Port& p : c.layer.outputs) {
    Type t = declared(p);
    if (!t.is_tensor()) {
      return c.error(
          fmt::format("is not known to perfc, and {} the type of its result {}",
                      dims_.overridden() ? "with --shape the file does not tell" : "the file does not declare", p.id));
    }
    types.push_back(std::move(t));
  }
  if (types.empty()) return c.error("is not known to perfc and has no result");
  c.warning(fmt::format("{}; kept as opaque: its cost is not known",
                        c.row ? "this form of it is not supported" : "unknown operator"));
  std::vector<ValueId> operands = c.operands;
  std::erase(operands, ValueId{});
  const std::size_t results = types.size();
  const auto id = c.builder().call({.op = op("opaque"),
                                    .operands = std::move(operands),
                                    .attrs = {{"source_op", std::string(c.layer.type)}},
                                    .results = static_cast<int>(results),
                                    .declared = std::move(types),
                                    .name = c.name,
                                    .loc = c.loc});
  if (!id) return Failure{};
  std::vector<ValueId> out;
  for (std::uint32_t i = 0; i < results; ++i) out.push_back({*id, i});
  return out;
}

// ---- Constants

Result<ValueId> Importer::constant(Call& c) {
  const DType dtype = c.dtype_or("element_type", DType::Undefined);
  if (dtype == DType::Undefined)
    return c.error(fmt::format("element type '{}' is not known to perfc", c.text_or("element_type", "")));
  const auto dims = c.list_or("shape", {});
  if (!dims) return Failure{};
  Shape shape;
  for (std::int64_t d : *dims) {
    if (d < 0) return c.error(fmt::format("a constant of shape '{}'", c.text_or("shape", "")));
    shape.push_back(Dim(d));
  }
  const auto count = element_count(shape);
  if (!count) return c.error("more elements than can be counted");
  Literal literal{Type::tensor(dtype, std::move(shape)), nullptr};
  if (dtype != DType::String && keeps_contents(dtype, *count)) {
    const auto size = static_cast<std::uint64_t>(byte_size(dtype, static_cast<double>(*count)));
    const std::int64_t offset = c.integer_or("offset", -1);
    const auto raw = offset < 0 ? std::nullopt : weights(static_cast<std::uint64_t>(offset), size);
    if (raw) {
      auto data = std::make_shared<Data>();
      read_raw(*raw, dtype, *count, *data);
      literal.data = std::move(data);
    } else if (!missing_reported_ && is_integer(dtype)) {
      missing_reported_ = true;
      c.warning(fmt::format(
          "{} bytes at {} of '{}' are not there; shapes that depend on such constants are taken from the .xml", size,
          offset, bin_of(name_)));
    }
  }
  return c.builder().constant(std::move(literal), c.name, c.loc);
}

std::optional<std::string_view> Importer::weights(std::uint64_t offset, std::uint64_t size) {
  if (!opened_) {
    opened_ = true;
    Diagnostics silent;  // a missing file is reported with the constant that it should hold
    auto file = path_.ends_with(".xml") ? InputFile::open(bin_of(path_), silent) : Result<InputFile>(Failure{});
    if (file) bin_ = *std::move(file);
  }
  if (!bin_ || offset > bin_->bytes().size() || size > bin_->bytes().size() - offset) return std::nullopt;
  return bin_->bytes().substr(offset, size);
}

}  // namespace perfc::openvino
