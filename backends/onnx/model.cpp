/// Names, initializers and operator sets of a model.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "backends/onnx/writer.h"
#include "ir/support/input_file.h"

namespace perfc::backends {
namespace {

constexpr std::size_t kMostInline = std::size_t{2000} << 20;  ///< of weights in a message of at most 2 GiB

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

void set_external(pb::TensorProto& t, const std::string& location, std::uint64_t offset, std::uint64_t length) {
  t.set_data_location(pb::TensorProto::EXTERNAL);
  t.clear_external_data();
  const auto add = [&](const char* key, const std::string& value) {
    auto& entry = *t.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  };
  add("location", location);
  add("offset", std::to_string(offset));
  add("length", std::to_string(length));
}

/// Where the bytes of an external tensor are.
struct ExternalPlace {
  std::string location;
  std::uint64_t offset = 0, length = 0;
};

ExternalPlace external_place(const pb::TensorProto& t) {
  ExternalPlace out;
  for (const auto& entry : t.external_data()) {
    if (entry.key() == "location") out.location = entry.value();
    if (entry.key() == "offset") out.offset = std::strtoull(entry.value().c_str(), nullptr, 10);
    if (entry.key() == "length") out.length = std::strtoull(entry.value().c_str(), nullptr, 10);
  }
  return out;
}

std::int64_t ir_version(std::int64_t opset) {
  // The first IR version of each release of ONNX that has the operator set (docs/Versioning.md of onnx).
  if (opset <= 22) return 10;
  return opset == 23 ? 11 : opset == 24 ? 12 : opset < 28 ? 13 : 14;
}

}  // namespace

std::string ModelWriter::unique(std::string_view wanted) {
  std::string name(wanted.empty() ? "value" : wanted);
  const auto first = names_.emplace(name, 1);
  if (first.second) return name;
  for (std::size_t& next = first.first->second;; ++next) {
    std::string numbered = fmt::format("{}_{}", name, next);
    if (names_.find(numbered) != names_.end()) continue;
    ++next;
    names_.emplace(numbered, 1);
    return numbered;
  }
}

std::string ModelWriter::node_name(const std::string& wanted) {
  if (wanted.empty() || node_names_.insert(wanted).second) return wanted;
  for (std::size_t i = 1;; ++i) {
    std::string numbered = fmt::format("{}_{}", wanted, i);
    if (node_names_.insert(numbered).second) return numbered;
  }
}

void ModelWriter::needs_type(const Type& type) {
  if (!type.is_tensor()) return;
  switch (type.dtype()) {
    case DType::BFloat16:
      return needs("", 22);
    case DType::Float4E2M1:
      return needs("", 23);
    case DType::Float8E8M0:
      return needs("", 24);
    case DType::Int2:
    case DType::UInt2:
      return needs("", 25);
    default:
      return;
  }
}

void ModelWriter::needs(std::string_view domain, std::int64_t version) {
  std::int64_t& have = opsets_.emplace(domain, version).first->second;
  have = std::max(have, version);
}

std::string ModelWriter::literal(const Literal& literal, std::string_view wanted) {
  pb::TensorProto tensor;
  write_contents(literal, tensor);
  std::string& name = literals_[tensor.SerializeAsString()];
  if (name.empty()) {
    name = unique(wanted);
    tensor.set_name(name);
    *model_.mutable_graph()->add_initializer() = std::move(tensor);
  }
  return name;
}

Result<std::string> ModelWriter::constant(const Node& n) {
  const ResultInfo& info = n.results[0];
  if (!info.type.is_tensor() || !info.type.is_static() || onnx::onnx_number(info.type.dtype()) == 0) {
    return diags_.error(n.loc, n.name, fmt::format("a constant of type {} has no form in ONNX", to_string(info.type)));
  }
  const std::pair key{n.loc.offset, fmt::format("{} {}", n.name, to_string(info.type))};
  needs_type(info.type);
  if (n.loc.offset >= 0 && !info.data) {
    const auto known = stored_.find(key);
    if (known != stored_.end()) return known->second;
  }
  pb::TensorProto tensor;
  brought_ = {};
  if (!info.data || !write_contents({info.type, info.data}, tensor)) {
    tensor.Clear();
    weight(n, tensor);
  }
  const std::string name = unique(n.name.empty() ? "constant" : n.name);
  const double bytes = info.type.bytes();
  if (options_.weights == Weights::Stripped && bytes > kMostKept && info.type.rank() > 0) {
    auto& sparse = *model_.mutable_graph()->add_sparse_initializer();
    for (const Dim& d : info.type.shape()) sparse.add_dims(d.value());
    auto& values = *sparse.mutable_values();
    values.set_name(name);
    values.set_data_type(tensor.data_type());
    values.add_dims(0);
    auto& indices = *sparse.mutable_indices();
    indices.set_data_type(pb::TensorProto::INT64);
    indices.add_dims(0);
  } else {
    tensor.set_name(name);
    if (!brought_.path.empty()) from_files_.emplace(name, std::move(brought_));
    *model_.mutable_graph()->add_initializer() = std::move(tensor);
  }
  stored_.emplace(key, name);
  return name;
}

bool ModelWriter::copied(const Node& n, pb::TensorProto& out) {
  const auto record = records_.by_offset.find(n.loc.offset);
  if (n.loc.offset < 0 || record == records_.by_offset.end()) return false;
  const std::string_view bytes = record->second;
  if (bytes.size() > kMostInline || !out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  const Type& type = n.results[0].type;
  double count = 1;
  for (const std::int64_t d : out.dims()) count *= static_cast<double>(d);
  const bool same =
      out.data_type() == onnx::onnx_number(type.dtype()) && count == static_cast<double>(type.elements().value_or(-1));
  out.clear_doc_string();
  const bool has_contents = count == 0 || out.data_location() == pb::TensorProto::EXTERNAL || !out.raw_data().empty() ||
                            out.float_data_size() + out.int32_data_size() + out.int64_data_size() +
                                    out.double_data_size() + out.uint64_data_size() + out.string_data_size() >
                                0;
  return same && has_contents && (out.data_location() != pb::TensorProto::EXTERNAL || bring_external(out));
}

/// Of a file in the directory of the output the reference stays; of others the bytes come along.
bool ModelWriter::bring_external(pb::TensorProto& t) {
  namespace fs = std::filesystem;
  const ExternalPlace place = external_place(t);
  const fs::path file = fs::path(options_.source_dir) / place.location;
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return false;
  if (fs::equivalent(fs::path(options_.source_dir), fs::path(options_.output).parent_path() / ".", none)) return true;
  const auto size = fs::file_size(file, none);
  if (none || place.offset > size || place.length > size - place.offset) return false;
  brought_ = {file.string(), place.offset, place.length > 0 ? place.length : size - place.offset};
  return true;
}

void ModelWriter::weight(const Node& n, pb::TensorProto& t) {
  const Type& type = n.results[0].type;
  const bool stripped = options_.weights == Weights::Stripped && type.bytes() > kMostKept;
  const bool found = !stripped && copied(n, t);
  if (!found) {
    t.Clear();
    brought_ = {};
  }
  t.set_data_type(onnx::onnx_number(type.dtype()));
  t.clear_dims();
  for (const Dim& d : type.shape()) t.add_dims(d.value());
  if (found || stripped) return;
  const auto bytes = static_cast<std::uint64_t>(type.bytes());
  if (options_.weights == Weights::Stripped) {
    t.set_raw_data(std::string(bytes, '\0'));
    return;
  }
  set_external(t, file_name(options_.output) + ".weights", missing_bytes_, bytes);
  missing_bytes_ += bytes;
  ++missing_;
}

Result<OnnxFile> ModelWriter::run(const Graph& g) {
  constexpr std::int64_t kNewest = 28;  // of the rows; a file may say anything
  needs("", std::clamp(records_.opset, kOpset, kNewest));
  pb::GraphProto& graph = *model_.mutable_graph();
  graph.set_name(g.name().empty() ? "main" : g.name());
  for (const std::string& name : g.result_names()) {
    if (!name.empty()) unique(name);
  }
  std::vector<std::string> params;
  for (const ValueId v : g.params()) {
    const Node& n = g.node(v);
    const bool is_result = std::find(g.results().begin(), g.results().end(), v) != g.results().end();
    params.push_back(is_result && names_.count(n.name) ? n.name : unique(n.name.empty() ? "input" : n.name));
  }
  if (!write_graph(*this, g, params, graph) || diags_.errors()) return Failure{};
  return finish();
}

Result<OnnxFile> ModelWriter::finish() {
  model_.set_producer_name("perfc");
  model_.set_ir_version(ir_version(opsets_[""]));
  for (const auto& [domain, version] : opsets_) {
    auto& o = *model_.add_opset_import();
    o.set_domain(domain);
    o.set_version(version);
  }
  if (missing_ > 0) {
    diags_.warning(
        fmt::format("the contents of {} weights ({} bytes) are not in the source: the model refers to '{}', "
                    "which is yours to write; --strip-weights makes them zeros",
                    missing_, missing_bytes_, file_name(options_.output) + ".weights"));
  }
  OnnxFile out;
  std::uint64_t total = 0;
  for (const auto& t : model_.graph().initializer()) total += t.raw_data().size();
  for (const auto& [name, part] : from_files_) total += part.length;
  if (total > kMostInline) out.weights_name = file_name(options_.output) + ".data";
  std::uint64_t offset = 0;
  for (auto& t : *model_.mutable_graph()->mutable_initializer()) {
    const auto part = from_files_.find(t.name());
    const bool from_file = part != from_files_.end();
    if (out.weights_name.empty()) {
      if (from_file && !take_in(t, part->second)) return Failure{};
      continue;
    }
    if (!from_file && t.raw_data().size() <= kMostKept) continue;
    const std::uint64_t length = from_file ? part->second.length : t.raw_data().size();
    set_external(t, out.weights_name, offset, length);
    offset += length;
    out.weights.push_back(from_file ? WeightPart{{}, part->second} : WeightPart{std::move(*t.mutable_raw_data()), {}});
    t.clear_raw_data();
  }
  if (!model_.SerializeToString(&out.model)) return diags_.error("cannot be written: larger than protobuf's 2 GiB");
  return out;
}

/// Reads contents from a file into the message.
Status ModelWriter::take_in(pb::TensorProto& t, const FilePart& part) {
  const auto input = InputFile::open(part.path, diags_);
  if (!input) return Failure{};
  if (part.offset > input->bytes().size() || part.length > input->bytes().size() - part.offset)
    return diags_.error(fmt::format("{}: has become shorter than the model says", part.path));
  t.clear_external_data();
  t.clear_data_location();
  t.set_raw_data(std::string(input->bytes().substr(part.offset, part.length)));
  return ok();
}

Result<OnnxFile> to_onnx(const Graph& graph, const onnx::TensorRecords& records, const OnnxOptions& options,
                         Diagnostics& diags) {
  return ModelWriter(records, options, diags).run(graph);
}

}  // namespace perfc::backends
