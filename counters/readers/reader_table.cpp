#include <fmt/format.h>

#include <algorithm>

#include "counters/readers/reader.h"

namespace perfc {
namespace {

/// Formats that a few words identify stand first; plain CSV takes what is left.
constexpr ReaderDef kReaders[] = {
    // name            summary                                              families
    // sniff                 read
    {"hpctoolkit-db", "HPCToolkit 4 and later: a folder with meta.db", "papi hpctoolkit perf intel amd arm power",
     sniff_hpctoolkit_db, read_hpctoolkit_db},
    {"hpctoolkit-xml", "HPCToolkit up to 3: a folder with experiment.xml", "papi hpctoolkit perf intel amd arm power",
     sniff_hpctoolkit_xml, read_hpctoolkit_xml},
    {"papi-hl", "PAPI: papi_hl_output or one of its rank_N.json", "papi perf intel amd arm power", sniff_papi,
     read_papi},
    {"perf-stat-csv", "perf stat -x, -o FILE", "perf intel amd arm power", sniff_perf_csv, read_perf_csv},
    {"perf-stat-json", "perf stat -j -o FILE", "perf intel amd arm power", sniff_perf_json, read_perf_json},
    {"ncu-csv", "ncu --csv, also with --page raw", "ncu", sniff_ncu, read_ncu},
    {"nvprof-csv", "nvprof --csv: metrics, events, trace, summary", "nvprof", sniff_nvprof, read_nvprof},
    {"caliper-json", "Caliper: cali-query -q 'format json-split' or json", "papi caliper perf intel amd arm power",
     sniff_caliper, read_caliper},
    {"csv", "any table with a head line, rocprof's too; see --mapping", "perfc rocprof", sniff_csv, read_csv_profile},
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
  if (files.files.size() == 1 && files.files.front().bytes.empty())
    return diags.error("the file is empty; a profile was expected");
  if (!files.mapping_name.empty()) {
    if (files.files.size() == 1) return read_csv_profile(files, diags);
    return diags.error("--mapping is for a plain CSV file; this is a folder");
  }
  for (const ReaderDef& r : kReaders) {
    if (r.sniff(files)) return r.read(files, diags);
  }
  std::string known;
  for (const ReaderDef& r : kReaders) known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", r.name, r.summary);
  return diags.error(fmt::format("not a profile that perfc reads; it reads {}", known));
}

}  // namespace perfc
