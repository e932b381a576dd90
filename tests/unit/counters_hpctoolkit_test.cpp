#include <gtest/gtest.h>

#include "counters_profile.h"

namespace perfc {
namespace {

void put(std::string& bytes, std::size_t at, std::initializer_list<int> values) {
  for (const int v : values) bytes.at(at++) = static_cast<char>(v);
}

constexpr const char* kTree = ">main thread\n>>solve\n>>>loop at src/solve.c:12\n";

TEST(HpctoolkitDb, SummaryOverThreads) {
  const Profile p = Fixture("hpctoolkit-db").read();
  EXPECT_EQ(p.format, "hpctoolkit-db");
  EXPECT_EQ(tree(p), kTree);
  EXPECT_EQ(total(p, "PAPI_TOT_INS"), 1000);
  EXPECT_EQ(value(p, "solve", "PAPI_TOT_INS"), 700);
  EXPECT_EQ(value(p, "loop at src/solve.c:12", "PAPI_TOT_INS"), 300);
  EXPECT_EQ(value(p, "loop at src/solve.c:12", "GXCOPY (sec)"), std::nullopt);
  EXPECT_EQ(total(p, "profiled threads"), 2);
  EXPECT_EQ(total(p, "profiled streams"), 1);
  ASSERT_EQ(p.about.size(), 2u);
  EXPECT_EQ(p.about[0], (std::pair<std::string, std::string>("program", "tiny")));
  EXPECT_EQ(p.about[1], (std::pair<std::string, std::string>("ranks", "1")));
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 1000);
  EXPECT_EQ(d.record[Counter::CpuToGpuBandwidth], 2e9);
  EXPECT_EQ(d.record[Counter::Threads], 2);
  EXPECT_EQ(d.record.known(), 3u);
}

TEST(HpctoolkitDb, ContextsTellTheSameAsTheSummary) {
  Fixture f("hpctoolkit-db");
  std::erase_if(f.files.files, [](const auto& file) { return file.base() == "profile.db"; });
  const Profile p = f.read();
  EXPECT_EQ(tree(p), kTree);
  EXPECT_EQ(total(p, "PAPI_TOT_INS"), 1000);
  EXPECT_EQ(value(p, "solve", "PAPI_TOT_INS"), 700);
  EXPECT_EQ(derive(p).record[Counter::CpuToGpuBandwidth], 2e9);
}

TEST(HpctoolkitDb, RefusesWithThePlace) {
  const auto changed = [](const char* file, auto change) {
    Fixture f("hpctoolkit-db");
    change(f.at(file));
    return f.complaint();
  };
  EXPECT_EQ(changed("meta.db", [](std::string& b) { b.pop_back(); }),
            "hpctoolkit-db/meta.db: @" + std::to_string(Fixture("hpctoolkit-db").at("meta.db").size() - 1) +
                ": error: does not end with \"_meta.db\"; is the file complete?\n");
  EXPECT_EQ(changed("meta.db", [](std::string& b) { put(b, 14, {3}); }),
            "hpctoolkit-db/meta.db: @14: error: version 3 of the format; 4 is read\n");
  EXPECT_EQ(changed(
                "profile.db",
                [](std::string& b) {
    put(b, 10, {'c', 't', 'x', 't'});
                }),
            "hpctoolkit-db/profile.db: @0: error: does not begin with \"HPCTOOLKITprof\"\n");
  // A million metrics.
  EXPECT_NE(changed(
                "meta.db",
                [](std::string& b) {
    const auto head = static_cast<unsigned char>(b[0x38]) + 256 * static_cast<unsigned char>(b[0x39]);
    put(b, head + 8, {0x40, 0x42, 0x0f, 0});
                })
                .find("error: the list of metrics does not lie within the file\n"),
            std::string::npos);
  // The loop's children are those of the entry point.
  EXPECT_NE(changed(
                "meta.db",
                [](std::string& b) {
    const auto head = static_cast<unsigned char>(b[0x48]) + 256 * static_cast<unsigned char>(b[0x49]);
    const auto entry = static_cast<unsigned char>(b[head]) + 256 * static_cast<unsigned char>(b[head + 1]);
    const auto solve = static_cast<unsigned char>(b[entry + 8]) + 256 * static_cast<unsigned char>(b[entry + 9]);
    const auto loop = static_cast<unsigned char>(b[solve + 8]) + 256 * static_cast<unsigned char>(b[solve + 9]);
    b.replace(loop, 16, b.substr(entry, 16));
                })
                .find("error: the node occurs twice: the call tree is no tree\n"),
            std::string::npos);
  Fixture alone("hpctoolkit-db");
  std::erase_if(alone.files.files, [](const auto& file) { return file.base() != "meta.db"; });
  Diagnostics diags("hpctoolkit-db");
  EXPECT_FALSE(read_profile(alone.files, diags));
  EXPECT_EQ(diags.str(), "hpctoolkit-db: error: lacks profile.db; name the whole database folder\n");
}

TEST(HpctoolkitXml, TreeAndMetricDbFiles) {
  const Profile p = Fixture("hpctoolkit-xml").read();
  EXPECT_EQ(p.format, "hpctoolkit-xml");
  EXPECT_EQ(tree(p), ">main\n>>call in line 5\n>>>operator<\n>>>>loop at src/tiny.c:21\n");
  EXPECT_EQ(total(p, "PAPI_TOT_INS:Sum (I)"), 100);
  EXPECT_EQ(value(p, "call in line 5", "PAPI_TOT_INS:Sum (I)"), 55);
  EXPECT_EQ(value(p, "main", "PAPI_TOT_INS:Sum (E)"), 45);
  EXPECT_EQ(total(p, "PAPI_TOT_INS:Sum (E)"), std::nullopt);  // what functions hold does not add up
  // Both threads' files, one big-endian and one little-endian.
  EXPECT_EQ(total(p, "PAPI_TOT_INS (I)"), 100);
  EXPECT_EQ(value(p, "call in line 5", "PAPI_TOT_INS (I)"), 55);
  EXPECT_EQ(value(p, "main", "PAPI_TOT_INS (E)"), 45);
  ASSERT_EQ(p.unmeasured.size(), 1u);
  EXPECT_EQ(p.unmeasured[0].metric, "PAPI_TOT_INS:Mean (I)");
  const Derived d = derive(p);
  EXPECT_EQ(d.record[Counter::Instructions], 100);
  EXPECT_EQ(d.record[Counter::ControlRatio], 0.2);
  EXPECT_EQ(d.record[Counter::BranchMissRatio], 0.125);
  EXPECT_EQ(d.record[Counter::Threads], 2);
  EXPECT_EQ(d.record.known(), 4u);
}

TEST(HpctoolkitXml, DeepTrees) {
  std::string text =
      "<HPCToolkitExperiment version=\"2.0\"><SecCallPathProfile n=\"x\"><Metric i=\"2\" "
      "n=\"cycles\"/><SecCallPathProfileData><M n=\"2\" v=\"7\"/>";
  for (int i = 0; i < 100'000; ++i) text += "<PF n=\"f\">";
  for (int i = 0; i < 100'000; ++i) text += "</PF>";
  const Profile p =
      read_text("experiment.xml", text + "</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>");
  EXPECT_EQ(p.regions.size(), 100'001u);
  EXPECT_EQ(total(p, "cycles"), 7);
}

TEST(HpctoolkitXml, RefusesWithThePlace) {
  const std::string head =
      "<HPCToolkitExperiment version=\"2.0\">\n<Metric i=\"2\" n=\"c\"/>\n<SecCallPathProfileData>";
  const std::string foot = "</SecCallPathProfileData></HPCToolkitExperiment>";
  EXPECT_EQ(complaint("e.xml", head + "<PF n=\"f\">\n"),
            "e.xml:4:1: error: not well-formed XML: no element found; is the file complete?\n");
  EXPECT_EQ(complaint("e.xml", head + "</PF>" + foot),
            "e.xml:3:27: error: not well-formed XML: mismatched tag; is the file complete?\n");
  EXPECT_EQ(complaint("e.xml", head + "<M n=\"3\" v=\"1\"/>" + foot),
            "e.xml:3:25: error: <M>: no metric has the number \"3\"\n");
  EXPECT_EQ(complaint("e.xml", head + "<M n=\"2\" v=\"x\"/>" + foot),
            "e.xml:3:25: 'c': error: <M>: the value is no number: \"x\"\n");
  EXPECT_EQ(complaint("e.xml", head + "<PF i=\"2\" n=\"f\"/><PF i=\"2\" n=\"f\"/>" + foot),
            "e.xml:3:42: error: <PF>: the number 2 occurs twice\n");
  EXPECT_EQ(complaint("e.xml", "<HPCToolkitExperiment version=\"4.0\"/>"),
            "e.xml:1:1: error: version \"4.0\" of the format; 2.x is read\n");
  EXPECT_EQ(complaint("e.xml", "<HPCToolkitExperiment version=\"2.0\"/>"),
            "e.xml: error: holds no profile (SecCallPathProfileData or SecFlatProfileData)\n");
  std::string bomb =
      "<!DOCTYPE HPCToolkitExperiment [\n<!ENTITY a \"aaaaaaaaaa\">\n<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">\n"
      "]>\n";
  EXPECT_EQ(complaint("e.xml", bomb + head + "<PF n=\"&b;\"/>" + foot),
            "e.xml:2:12: error: declares the entity 'a'; HPCToolkit declares none\n");
}

TEST(HpctoolkitXml, MetricDbFilesOfWrongSizes) {
  const auto changed = [](auto change) {
    Fixture f("hpctoolkit-xml");
    change(f.at("1.tiny-000001-000-1-3-0.metric-db"));
    return f.complaint();
  };
  const std::string file = "hpctoolkit-xml/1.tiny-000001-000-1-3-0.metric-db: ";
  EXPECT_EQ(changed([](std::string& b) { b.resize(100); }),
            file + "@24: error: 5 nodes of 2 metrics need 80 bytes of values, but the file has 68; is it complete?\n");
  EXPECT_EQ(
      changed([](std::string& b) {
        put(b, 24, {0xff, 0xff, 0xff, 0xff});
      }),
      file +
          "@24: error: 4294967295 nodes of 2 metrics need 68719476720 bytes of values, but the file has 80; is it "
          "complete?\n");
  EXPECT_EQ(changed([](std::string& b) { put(b, 28, {3}); }),
            file + "@28: error: holds 3 metrics per node, but experiment.xml tells 2\n");
  EXPECT_EQ(changed([](std::string& b) { put(b, 23, {'x'}); }),
            file + "@23: error: neither big-endian ('b') nor little-endian ('l')\n");
  EXPECT_EQ(
      changed([](std::string& b) { b.resize(20); }),
      file + "@0: error: no metric-db file: it does not begin with \"HPCPROF-metricdb__\" and a head of 32 bytes\n");
  EXPECT_EQ(changed([](std::string& b) { b.resize(b.size() - 16), put(b, 24, {4}); }),
            file + "@24: error: 4 nodes, but the files before it have 5\n");
}

}  // namespace
}  // namespace perfc
