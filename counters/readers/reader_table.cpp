#include <fmt/format.h>

#include <algorithm>

#include "counters/readers/reader.h"

namespace perfc {
namespace {

constexpr ReaderDef kReaders[] = {
    // name            summary                        families                    sniff            read
    {"perf-stat-csv",  "perf stat -x, -o FILE",       "perf intel amd arm power", sniff_perf_csv,  read_perf_csv},
    {"perf-stat-json", "perf stat -j -o FILE",        "perf intel amd arm power", sniff_perf_json, read_perf_json},
};

}  // namespace

const ProfileFiles::File* ProfileFiles::find(std::string_view base) const {
  const auto found = std::find_if(files.begin(), files.end(), [&](const File& f) { return f.base() == base; });
  return found == files.end() ? nullptr : &*found;
}

std::span<const ReaderDef> reader_table() { return kReaders; }

const ReaderDef* find_reader(std::string_view name) {
  for (const ReaderDef& r : kReaders) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

Result<Profile> read_profile(const ProfileFiles& files, Diagnostics& diags) {
  if (files.files.size() == 1 && files.files.front().bytes.empty()) return diags.error("the file is empty; a profile was expected");
  for (const ReaderDef& r : kReaders) {
    if (r.sniff(files)) return r.read(files, diags);
  }
  std::string known;
  for (const ReaderDef& r : kReaders) known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", r.name, r.summary);
  return diags.error(fmt::format("not a profile that perfc reads; it reads {}", known));
}

}  // namespace perfc
