#include "frontends/onnx/stored_zeros.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "frontends/common/piped.h"
#include "frontends/common/wire.h"

namespace perfc::onnx {
namespace {

/// TensorProto.external_data as far as it says where the bytes are (onnx.ai, "External Data").
struct Place {
  std::string_view location;
  std::uint64_t offset = 0;
};

std::optional<Place> place_of(const TensorView& t) {
  constexpr std::uint32_t kExternalData = 13, kKey = 1, kValue = 2;
  Place out;
  wire::Reader entries(t.record);
  for (wire::Field entry; entries.next(entry);) {
    if (entry.number != kExternalData || entry.type != wire::WireType::Bytes) continue;
    std::string_view key, value;
    wire::Reader fields(entry.bytes);
    for (wire::Field f; fields.next(f);) {
      if (f.number == kKey) wire::take(f, key);
      if (f.number == kValue) wire::take(f, value);
    }
    if (key == "location") out.location = value;
    if (key == "offset" &&
        std::from_chars(value.data(), value.data() + value.size(), out.offset).ptr != value.data() + value.size())
      return std::nullopt;
  }
  return out.location.empty() ? std::nullopt : std::optional(out);
}

/// A file in the model's folder or below, and nothing that could wait for a writer.
std::optional<InputFile> open_beside(const std::string& model, std::string_view location) {
  const std::filesystem::path relative(location);
  const bool inside = relative.is_relative() && std::ranges::find(relative, "..") == relative.end();
  if (model.empty() || model == "-" || !inside) return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(model).parent_path() / relative;
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return std::nullopt;
  Diagnostics silent;  // weights are not needed
  auto file = InputFile::open(path.string(), silent);
  return file ? std::optional(*std::move(file)) : std::nullopt;
}

bool could_be_mask(const Type& type) {
  if (!is_float(type.dtype()) || bits(type.dtype()) < 16 || type.rank() < 3) return false;
  return type.shape()[type.rank() - 3].is(1);
}

}  // namespace

bool StoredZeros::hold(const TensorView& t, const Type& type) {
  if (!could_be_mask(type) || t.typed_data) return false;
  const double size = byte_size(type.dtype(), static_cast<double>(type.elements().value_or(0)));
  if (size < 1 || size > static_cast<double>(kLargestMask)) return false;
  const auto bytes = t.external ? external(t, static_cast<std::size_t>(size)) : t.raw;
  return bytes && static_cast<double>(bytes->size()) == size &&
         std::ranges::all_of(*bytes, [](char byte) { return byte == 0; });
}

std::optional<Bytes> StoredZeros::external(const TensorView& t, std::size_t size) {
  const auto place = place_of(t);
  if (!place) return std::nullopt;
  auto found = files_.find(place->location);
  if (found == files_.end())
    found = files_.emplace(std::string(place->location), open_beside(model_, place->location)).first;
  if (!found->second) return std::nullopt;
  const Bytes all = found->second->bytes();
  if (place->offset > all.size() || size > all.size() - place->offset) return std::nullopt;
  return all.substr(place->offset, size);
}

}  // namespace perfc::onnx
