#include "frontends/foreign.h"

#include <gtest/gtest.h>

#include "frontends/frontend.h"

namespace perfc::testing {
namespace {

using namespace std::string_literals;

/// What the user reads when the bytes come under this name.
std::string refusal(const std::string& name, std::string bytes) {
  Diagnostics diags(name);
  const Source source = Source::from_bytes(name, std::move(bytes));
  EXPECT_FALSE(import_model(source, {}, diags));
  return diags.str();
}

TEST(Foreign, TheBytesTellWhateverTheName) {
  EXPECT_EQ(
      refusal("saved_model.pb", "\x1f\x8b\x08\0\0\0\0\0"s),
      "saved_model.pb: error: cannot import: compressed with gzip; unpack it (gunzip, or tar -xzf) and give the model "
      "in it\n");
  EXPECT_EQ(
      refusal("m.pbtxt",
              "\xfd"
              "7zXZ\0\0\0"s),
      "m.pbtxt: error: cannot import: compressed with xz; unpack it (xz -d, or tar -xJf) and give the model in it\n");
  EXPECT_EQ(refusal("m.onnx", "\x1c\0\0\0TFL3\0\0"s),
            "m.onnx: error: cannot import: a TensorFlow Lite model; give the SavedModel that it was converted from\n");
}

TEST(Foreign, ZipArchivesAreToldApartByTheirMembers) {
  const std::string zip = "PK\x03\x04" + std::string(60, '\0');
  EXPECT_NE(refusal("m.zip", zip + "m/saved_model.pb").find("a zip archive of a TensorFlow SavedModel; unpack it"),
            std::string::npos);
  EXPECT_FALSE(foreign_format(zip + "models/model.json"));  // PyTorch's, which is read
}

TEST(Foreign, TarIsKnownByItsHeader) {
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  EXPECT_NE(foreign_format(tar)->find("tar archive"), std::string::npos);
  EXPECT_FALSE(foreign_format(tar.substr(0, 260)));
}

TEST(Foreign, SafetensorsNeedALengthThatFits) {
  const std::string header = "{\"w\":{}}";
  const std::string length(1, static_cast<char>(header.size()));
  EXPECT_NE(foreign_format(length + std::string(7, '\0') + header)->find("safetensors"), std::string::npos);
  EXPECT_FALSE(foreign_format(length + std::string(6, '\0') + "\x7f" + header));
  EXPECT_FALSE(foreign_format("{\"a\": 12{\"b\": 1}}"));
}

TEST(Foreign, FieldNumbersInsteadOfNames) {
  EXPECT_NE(foreign_format("1: 1\n2 {\n  1 {\n    2: \"x\"\n  }\n}\n")->find("protoc --decode_raw"), std::string::npos);
  EXPECT_FALSE(foreign_format("node {\n  name: \"1\"\n}\n"));
  EXPECT_FALSE(foreign_format("1: 1\n"));
}

TEST(Foreign, ModelsAreNone) {
  for (const char* bytes : {"", "P", "\x08\x07", "#[version = \"perfc-ir/1\"]", "{\"format\": \"torchscript-json\"}"}) {
    EXPECT_FALSE(foreign_format(bytes)) << bytes;
  }
}

TEST(Foreign, SignaturesAreTensorFlows) {
  Diagnostics diags("m.pir");
  ImportOptions options;
  options.signature = "serving_default";
  EXPECT_FALSE(import_model(Source::from_bytes("m.pir", "def @main() {}"), options, diags));
  EXPECT_EQ(diags.str(),
            "m.pir: error: --signature: only TensorFlow models have signatures; this is perfc's text form\n");
}

}  // namespace
}  // namespace perfc::testing
