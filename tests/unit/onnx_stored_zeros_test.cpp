/// Masks of zeros in ONNX files and in the data beside them.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ir/tables.h"
#include "tests/unit/onnx_text.h"

namespace perfc::testing {
namespace {

namespace fs = std::filesystem;

class StoredZerosTest : public ::testing::Test {
 protected:
  StoredZerosTest() : folder_(fs::temp_directory_path() / ("perfc_zeros_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_ / "models");
  }
  ~StoredZerosTest() override { fs::remove_all(folder_); }

  void data(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / "models" / name, std::ios::binary) << bytes;
  }

  /// Is the initializer of `x + mask` known to be zeros?
  bool zeros(const std::string& dims, const std::string& contents) const {
    const fs::path path = folder_ / "models" / "m.onnxtxt";
    std::ofstream(path) << "ir_version: 9\nopset_import { version: 20 }\ngraph { node { input: \"x\" input: \"mask\" "
                           "output: \"y\" op_type: \"Add\" }\n"
                        << "initializer { " << dims << " data_type: 1 name: \"mask\" " << contents << " }\n"
                        << value("input", "x", {"1", "1", "10", "10"}) << value("output", "y", {"1", "1", "10", "10"})
                        << "}";
    Diagnostics diags(path.string());
    const auto source = Source::open(path.string(), diags);
    const auto graph = source ? import_model(*source, {}, diags) : Result<Graph>(Failure{});
    EXPECT_TRUE(graph) << diags.str();
    if (!graph) return false;
    for (const Node& n : graph->nodes()) {
      if (n.name == "mask") return is_zeros(n);
    }
    return false;
  }

  static std::string external(const std::string& location, const std::string& offset = "0") {
    return "data_location: EXTERNAL external_data { key: \"location\" value: \"" + location +
           "\" } external_data { key: \"offset\" value: \"" + offset +
           "\" } external_data { key: \"length\" value: \"400\" }";
  }

  fs::path folder_;
  const std::string mask_ = "dims: 1 dims: 1 dims: 10 dims: 10";
};

TEST_F(StoredZerosTest, AreReadFromTheFileAndFromTheDataBesideIt) {
  std::string raw;
  for (int i = 0; i < 400; ++i) raw += "\\000";
  EXPECT_TRUE(zeros(mask_, "raw_data: \"" + raw + "\""));
  EXPECT_FALSE(zeros(mask_, "raw_data: \"" + raw.substr(4) + "\\001\""));
  data("m.data", std::string(8, '\1') + std::string(400, '\0'));
  EXPECT_TRUE(zeros(mask_, external("m.data", "8")));
  EXPECT_FALSE(zeros(mask_, external("m.data", "7"))) << "one byte is not 0";
}

TEST_F(StoredZerosTest, AreOfMasksAlone) {
  data("m.data", std::string(4000, '\0'));
  EXPECT_FALSE(zeros("dims: 10 dims: 10", external("m.data"))) << "no heads";
  EXPECT_FALSE(zeros("dims: 10 dims: 10 dims: 10", external("m.data"))) << "heads with masks of their own";
  EXPECT_TRUE(zeros("dims: 1 dims: 10 dims: 10", external("m.data")));
}

TEST_F(StoredZerosTest, DataThatIsMissingOrElsewhereIsNotRead) {
  EXPECT_FALSE(zeros(mask_, external("missing.data")));
  data("short.data", std::string(399, '\0'));
  EXPECT_FALSE(zeros(mask_, external("short.data")));
  EXPECT_FALSE(zeros(mask_, external("short.data", "18446744073709551615")));
  EXPECT_FALSE(zeros(mask_, external("short.data", "none")));
  data("../outside.data", std::string(400, '\0'));
  EXPECT_FALSE(zeros(mask_, external("../outside.data")));
  EXPECT_FALSE(zeros(mask_, external((folder_ / "outside.data").string())));
  EXPECT_FALSE(zeros(mask_, external(".")));
}

}  // namespace
}  // namespace perfc::testing
