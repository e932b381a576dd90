/// Every fixture cut at every byte and with every byte changed: what is read is
/// bounded by the bytes of the file, what is refused says why.
#include <gtest/gtest.h>

#include "counters_profile.h"

namespace perfc {
namespace {

struct Case {
  const char* fixture;
  const char* file;  ///< of a folder: the one that is damaged
  const char* mapping = "";
};
constexpr Case kCases[] = {
    {"hpctoolkit-db", "meta.db"},
    {"hpctoolkit-db", "profile.db"},
    {"hpctoolkit-db-cct", "cct.db"},
    {"hpctoolkit-xml", "experiment.xml"},
    {"hpctoolkit-xml", "1.tiny-000001-000-1-3-0.metric-db"},
    {"papi_hl_output", "rank_000000.json"},
    {"perf.csv", "perf.csv"},
    {"perf.jsonl", "perf.jsonl"},
    {"caliper.json", "caliper.json"},
    {"caliper_records.json", "caliper_records.json"},
    {"ncu.csv", "ncu.csv"},
    {"ncu_raw.csv", "ncu_raw.csv"},
    {"nvprof.csv", "nvprof.csv"},
    {"table.csv", "table.csv"},
    {"table.csv", "table.csv", "table_mapping.csv"},
};

/// Reads the damaged files; empty when all is well.
std::string problem(Fixture& f) {
  f.refresh();
  Diagnostics diags(f.files.path);
  const auto p = read_profile(f.files, diags);
  if (!p) return diags.errors() == 0 ? "refused without a diagnostic" : "";
  std::size_t bytes = 0, samples = 0;
  for (const std::string& b : f.bytes) bytes += b.size();
  for (const Region& r : p->regions) {
    samples += r.samples.size();
    if (r.name.size() > ProfileBuilder::kMaxName) return "a name of a region is too long";
  }
  if (p->regions.size() > bytes || samples > bytes) return "more regions or values than bytes";
  const Derived derived = derive(*p);
  for (const auto& v : derived.record.values()) {
    if (v && !(*v >= 0)) return "a derived value is no measurement";
  }
  return "";
}

class Damaged : public testing::TestWithParam<Case> {
 protected:
  static Fixture open() {
    const Case& c = GetParam();
    if (std::string_view(c.fixture) != "hpctoolkit-db-cct") return Fixture(c.fixture, c.mapping);
    Fixture f("hpctoolkit-db");  // values by node are read where the summary is absent
    f.bytes.erase(std::next(f.bytes.begin(), 2));
    std::erase_if(f.files.files, [](const auto& file) { return file.base() == "profile.db"; });
    return f;
  }
};

TEST_P(Damaged, CutAnywhere) {
  Fixture f = open();
  std::string& bytes = f.at(GetParam().file);
  const std::string whole = bytes;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    bytes.assign(whole, 0, size);
    EXPECT_EQ(problem(f), "") << "cut to " << size;
  }
}

TEST_P(Damaged, AnyByteChanged) {
  Fixture f = open();
  std::string& bytes = f.at(GetParam().file);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char was = bytes[at];
    for (const int other : {0, 0xff, was ^ 1, was ^ 0x80, int{'"'}, int{','}, int{'9'}}) {
      bytes[at] = static_cast<char>(other);
      EXPECT_EQ(problem(f), "") << "byte " << at << " is " << other;
    }
    bytes[at] = was;
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, Damaged, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = std::string(info.param.fixture) + "_" + info.param.file + info.param.mapping;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace perfc
