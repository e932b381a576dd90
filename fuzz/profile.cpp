/// One reader of profiles, PERFC_READER, on any bytes. Readers of folders get
/// several files: their sizes (u32, little-endian) stand in front of them.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "counters/derive.h"
#include "counters/readers/reader.h"

namespace {

/// The files of PERFC_FILES, space-separated names, that the bytes hold.
std::vector<perfc::ProfileFiles::File> split(std::string_view bytes) {
  std::vector<perfc::ProfileFiles::File> out;
  std::string_view names = PERFC_FILES;
  if (names.find(' ') == std::string_view::npos) return {{std::string(names), bytes}};
  while (!names.empty() && bytes.size() >= 4) {
    std::size_t size = 0;
    for (int i = 3; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    bytes.remove_prefix(4);
    const std::size_t end = std::min(names.find(' '), names.size());
    out.push_back({std::string(names.substr(0, end)), bytes.substr(0, size)});
    bytes.remove_prefix(std::min(size, bytes.size()));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perfc::ProfileFiles files{.path = "fuzz", .files = split({reinterpret_cast<const char*>(data), size})};
  const perfc::ReaderDef* reader = perfc::find_reader(PERFC_READER);
  if (!reader) std::abort();
  if (files.files.size() == 2 && files.files.back().name == "mapping.csv") {
    files.mapping = files.files.back().bytes;
    files.mapping_name = "mapping.csv";
    files.files.pop_back();
  }
  if (files.files.empty() || !reader->sniff(files)) return 0;
  perfc::Diagnostics diags("fuzz");
  const auto profile = reader->read(files, diags);
  if (!profile && diags.errors() == 0) std::abort();
  if (profile) (void)perfc::derive(*profile);
  return 0;
}
