#include "gnn/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ir/support/input_file.h"
#include "ir/support/json.h"

namespace perfc {

namespace {

using Json = nlohmann::ordered_json;
static_assert(std::endian::native == std::endian::little, "the data of a file is little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLargestHeader = std::size_t{16} << 20;
constexpr std::size_t kDeepest = 8;
constexpr std::string_view kMetadata = "__metadata__";

/// A name that an object has twice, at any depth (the parser has limited it); empty: none.
std::string repeated_name(const json::Element& e) {
  if (json::Array all; !e.get(all)) {
    for (const json::Element& one : all) {
      if (std::string name = repeated_name(one); !name.empty()) return name;
    }
  }
  if (json::Object all; !e.get(all)) {
    std::set<std::string_view> names;
    for (const auto& [name, value] : all) {
      if (!names.insert(name).second) return std::string(name);
      if (std::string below = repeated_name(value); !below.empty()) return below;
    }
  }
  return {};
}

bool read_count(const json::Element& e, std::uint64_t& out) { return e.get(out) == simdjson::SUCCESS; }

struct Entry {
  std::string name;
  std::uint64_t begin = 0, end = 0, rows = 1, columns = 1;
  Parameter<float>::Kind kind = Parameter<float>::Kind::Matrix;
};

Result<Entry> read_entry(const std::string& name, const json::Element& j, std::uint64_t data, Diagnostics& diags) {
  const auto bad = [&](std::string_view what) {
    return diags.error({}, name.substr(0, 200), fmt::format("tensor: {}", what));
  };
  const auto dtype = json::member(j, "dtype"), shape = json::member(j, "shape"),
             offsets = json::member(j, "data_offsets");
  if (!dtype || !shape || !offsets) return bad("wants dtype, shape and data_offsets");
  if (json::text(dtype) != "F32") return bad("dtype is not F32");
  Entry e{.name = name};
  const auto extents = json::array(shape), range = json::array(offsets);
  if (!extents || extents->size() < 1 || extents->size() > 2) return bad("shape is not a list of one or two extents");
  if (!read_count(extents->at(extents->size() - 1).value(), e.columns) ||
      (extents->size() == 2 && !read_count(extents->at(0).value(), e.rows))) {
    return bad("shape has an extent that is no count");
  }
  if (extents->size() == 1) e.kind = Parameter<float>::Kind::Vector;
  if (!range || range->size() != 2 || !read_count(range->at(0).value(), e.begin) ||
      !read_count(range->at(1).value(), e.end)) {
    return bad("data_offsets is not a pair of counts");
  }
  if (e.begin > e.end || e.end > data)
    return bad(fmt::format("offsets {}..{} leave the {} bytes of data", e.begin, e.end, data));
  const std::uint64_t numbers = (e.end - e.begin) / sizeof(float);
  const bool fits =
      e.columns == 0 || e.rows == 0 ? numbers == 0 : e.rows <= numbers / e.columns && e.rows * e.columns == numbers;
  if (!fits || (e.end - e.begin) % sizeof(float) != 0) {
    return bad(fmt::format("shape {}x{} does not take {} bytes", e.rows, e.columns, e.end - e.begin));
  }
  return e;
}

/// Without a branch per number: infinities and NaNs are those whose exponent is all ones.
bool all_finite(std::span<const float> numbers) {
  std::uint32_t largest = 0;
  for (const float v : numbers) largest = std::max(largest, std::bit_cast<std::uint32_t>(v) & 0x7fffffffU);
  return largest < 0x7f800000U;
}

}  // namespace

const NamedTensor* Tensors::find(std::string_view name) const {
  for (const NamedTensor& t : tensors) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

std::string write_safetensors(const Tensors& file) {
  Json header = Json::object();
  header[kMetadata] = file.metadata;
  std::uint64_t offset = 0;
  for (const NamedTensor& t : file.tensors) {
    const std::uint64_t end = offset + t.value.size() * sizeof(float);
    Json shape =
        t.kind == Parameter<float>::Kind::Vector ? Json{t.value.columns()} : Json{t.value.rows(), t.value.columns()};
    header[t.name] = {{"dtype", "F32"}, {"shape", std::move(shape)}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + kLengthBytes - 1) / kLengthBytes * kLengthBytes, ' ');  // so that the data is aligned
  const std::uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += text;
  for (const NamedTensor& t : file.tensors) {
    bytes.append(reinterpret_cast<const char*>(t.value.data()), t.value.size() * sizeof(float));
  }
  return bytes;
}

Result<Tensors> parse_safetensors(std::string_view bytes, Diagnostics& diags) {
  std::uint64_t length = 0;
  if (bytes.size() < kLengthBytes) return diags.error("no safetensors file: shorter than 8 bytes");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (length > kLargestHeader || length > bytes.size()) {
    return diags.error(
        fmt::format("no safetensors file: header of {} bytes in a file of {}", length, bytes.size() + kLengthBytes));
  }
  const std::string_view text = bytes.substr(0, length), data = bytes.substr(length);

  simdjson::dom::parser parser;
  json::Element root;
  json::Object header;
  auto error = parser.allocate(text.size(), kDeepest);
  if (!error) error = parser.parse(text.data(), text.size()).get(root);
  if (error == simdjson::DEPTH_ERROR) return diags.error(fmt::format("header nests deeper than {}", kDeepest));
  if (error || root.get(header)) return diags.error("header is not a JSON object");
  if (const std::string name = repeated_name(root); !name.empty())
    return diags.error(fmt::format("header has '{}' twice", name.substr(0, 80)));

  Tensors file;
  std::vector<Entry> entries;
  for (const auto& [name, j] : header) {
    if (name == kMetadata) {
      json::Object metadata;
      if (j.get(metadata)) return diags.error("__metadata__ is not an object");
      for (const auto& [key, value] : metadata) {
        const auto text_of = json::text(value);
        if (!text_of) return diags.error(fmt::format("__metadata__: '{}' is not a string", key.substr(0, 80)));
        file.metadata[std::string(key)] = *text_of;
      }
      continue;
    }
    Result<Entry> entry = read_entry(std::string(name), j, data.size(), diags);
    if (!entry) return Failure{};
    entries.push_back(std::move(*entry));
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
  std::uint64_t expected = 0;
  for (const Entry& e : entries) {
    if (e.begin != expected) {
      return diags.error({}, e.name.substr(0, 200),
                         fmt::format("tensor: begins at {}, the one before ends at {}", e.begin, expected));
    }
    expected = e.end;
  }
  if (expected != data.size()) return diags.error(fmt::format("{} bytes of data, {} described", data.size(), expected));

  for (Entry& e : entries) {
    NamedTensor t{std::move(e.name), e.kind, {}};
    t.value.resize(e.rows, e.columns);
    if (e.end > e.begin) std::memcpy(t.value.data(), data.data() + e.begin, e.end - e.begin);
    const std::span numbers(t.value.data(), t.value.size());
    if (!all_finite(numbers)) {
      const auto first = std::find_if_not(numbers.begin(), numbers.end(), [](float v) { return std::isfinite(v); });
      return diags.error({}, t.name.substr(0, 200),
                         fmt::format("tensor: entry {} is not a finite number", first - numbers.begin()));
    }
    file.tensors.push_back(std::move(t));
  }
  return file;
}

Result<Tensors> read_safetensors(const std::string& path, Diagnostics& diags) {
  Diagnostics in_file(path);
  const auto file = InputFile::open(path, in_file);
  diags.append(in_file);
  if (!file) return Failure{};
  if (file->bytes().size() > kLargestCheckpoint)
    return diags.error(fmt::format("{} is no file of at most {} bytes", path, kLargestCheckpoint));
  return parse_safetensors(file->bytes(), diags);
}

}  // namespace perfc
