#pragma once
/// Readers of profilers' files. Each is one row of `reader_table`; a new one is
/// a file in this folder and a row. Readers get bytes and do no I/O, so that
/// tests and fuzzers drive them directly. Files are hostile: a reader refuses
/// with a located diagnostic, and needs memory linear in the bytes it was given.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counters/profile.h"

namespace perfc {

/// A file, or the files of a directory that is one profile (an HPCToolkit
/// database, a folder of PAPI's ranks).
struct ProfileFiles {
  struct File {
    std::string name;  ///< for messages: the path as it was opened
    std::string_view bytes;
    /// Without its folders.
    std::string_view base() const { return std::string_view(name).substr(name.rfind('/') + 1); }
  };
  std::string path;
  std::vector<File> files;   ///< by name; never empty
  std::string_view mapping;  ///< plain CSV only: what its columns are; see plain_csv.cpp
  std::string mapping_name;

  const File* find(std::string_view base) const;
};

struct ReaderDef {
  std::string_view name;      ///< "perf-stat-csv"
  std::string_view summary;   ///< "perf stat -x, -o FILE"
  std::string_view families;  ///< whose counter names it carries, likeliest first: `CounterName::family`
  bool (*sniff)(const ProfileFiles&);
  Result<Profile> (*read)(const ProfileFiles&, Diagnostics&);
};
std::span<const ReaderDef> reader_table();
const ReaderDef* find_reader(std::string_view name);

/// Reads with the first reader of the table that takes the files for its own; a
/// profile that comes with a mapping is plain CSV.
Result<Profile> read_profile(const ProfileFiles&, Diagnostics&);

bool sniff_hpctoolkit_xml(const ProfileFiles&);
bool sniff_hpctoolkit_db(const ProfileFiles&);
bool sniff_papi(const ProfileFiles&);
bool sniff_caliper(const ProfileFiles&);
bool sniff_perf_csv(const ProfileFiles&);
bool sniff_perf_json(const ProfileFiles&);
bool sniff_ncu(const ProfileFiles&);
bool sniff_nvprof(const ProfileFiles&);
bool sniff_csv(const ProfileFiles&);
Result<Profile> read_hpctoolkit_xml(const ProfileFiles&, Diagnostics&);
Result<Profile> read_hpctoolkit_db(const ProfileFiles&, Diagnostics&);
Result<Profile> read_papi(const ProfileFiles&, Diagnostics&);
Result<Profile> read_caliper(const ProfileFiles&, Diagnostics&);
Result<Profile> read_perf_csv(const ProfileFiles&, Diagnostics&);
Result<Profile> read_perf_json(const ProfileFiles&, Diagnostics&);
Result<Profile> read_ncu(const ProfileFiles&, Diagnostics&);
Result<Profile> read_nvprof(const ProfileFiles&, Diagnostics&);
Result<Profile> read_csv_profile(const ProfileFiles&, Diagnostics&);

}  // namespace perfc
