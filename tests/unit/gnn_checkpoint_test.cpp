/// Checkpoints: what is written is read, mismatches are named, hostile files are refused.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "gnn/checkpoint.h"
#include "gnn/layers/linear.h"
#include "gnn_check.h"
#include "ir/support/output_file.h"

namespace perfc {
namespace {

Checkpoint example() {
  Linear<float> layer(3, 2);
  testing::randomise(layer.weight.value, "weight");
  const std::vector<Column> columns{{"macs", "1", {}}, {"kind", "1", {}}, {"weight", "B", {}}};
  using Scale = Normaliser::Scale;
  return {
      .model = "test",
      .tables = {{"ops", columns,
                  Normaliser::restore(columns, {Scale::Log, Scale::Linear, Scale::Log}, {0.1, 0, 1e30}, {1, 2, 0.3})},
                 {"static", {{"batch", "1", {}}}, {}}},
      .vocabulary = {"unknown", "nn.conv2d"},
      .outputs = {{"latency", "ms", 1000}},
      .settings = {{"hidden", 2}},
      .provenance = {{"data", "toy \"quoted\" é"}, {"seed", "1"}},
      .tensors = save(parameters<float>(layer))};
}

/// A file with this header and `data` bytes of zeros.
std::string file(std::string header, std::size_t data = 0) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data, '\0');
}

std::string complaint(std::string_view bytes) {
  Diagnostics diags;
  EXPECT_FALSE(parse_safetensors(bytes, diags));
  EXPECT_EQ(diags.errors(), 1u);
  return diags.all().empty() ? ""
                             : diags.all()[0].name + (diags.all()[0].name.empty() ? "" : ": ") + diags.all()[0].message;
}

TEST(Checkpoints, ComeBackAsTheyWere) {
  const Checkpoint c = example();
  const std::string bytes = write_checkpoint(c);
  Diagnostics diags;
  const auto back = parse_checkpoint(bytes, diags);
  ASSERT_TRUE(back) << diags.str();
  EXPECT_EQ(write_checkpoint(*back), bytes);
  EXPECT_EQ(back->provenance, c.provenance);
  EXPECT_EQ(back->vocabulary, c.vocabulary);
  EXPECT_EQ(back->settings, c.settings);
  ASSERT_TRUE(back->tables[0].normaliser);
  EXPECT_EQ(back->tables[0].normaliser->means(), c.tables[0].normaliser->means());
  EXPECT_EQ(back->tables[0].normaliser->deviations(), c.tables[0].normaliser->deviations());
  EXPECT_FALSE(back->tables[1].normaliser);
  Linear<float> layer(3, 2);
  ASSERT_TRUE(load(back->tensors, parameters<float>(layer), diags));
  EXPECT_TRUE((layer.weight.value.flat() == c.tensors[0].value.flat()).all());
}

TEST(Checkpoints, GoThroughAFile) {
  const std::string path = (std::filesystem::temp_directory_path() / "perfc_checkpoint_test.safetensors").string();
  Diagnostics diags;
  ASSERT_TRUE(write_file(path, write_checkpoint(example()), diags));
  const auto back = read_checkpoint(path, diags);
  ASSERT_TRUE(back) << diags.str();
  EXPECT_EQ(back->model, "test");
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  std::filesystem::remove(path);
  EXPECT_FALSE(read_checkpoint(path, diags));
  EXPECT_EQ(diags.all()[0].message, "cannot open: No such file or directory; check the path");
  EXPECT_FALSE(write_file("/nowhere/x", "", diags));
  EXPECT_EQ(diags.all()[1].message, "/nowhere/x: cannot write: No such file or directory");
}

TEST(Checkpoints, NameTheColumnThatDiffers) {
  const Checkpoint c = example();
  const auto message = [&](std::vector<FeatureTable> tables) {
    Diagnostics diags;
    EXPECT_FALSE(check_tables(c, tables, diags));
    return diags.all().at(0).message;
  };
  std::vector<FeatureTable> t = c.tables;
  Diagnostics diags;
  EXPECT_TRUE(check_tables(c, t, diags));
  t[0].columns[1].name = "category";
  EXPECT_EQ(message(t), "ops: column 1 is 'category' (1) here and 'kind' (1) in the checkpoint");
  t = c.tables;
  t[0].columns[2].unit = "MiB";
  EXPECT_EQ(message(t), "ops: column 2 is 'weight' (MiB) here and 'weight' (B) in the checkpoint");
  t = c.tables;
  t[1].columns.push_back({"macs", "1", {}});
  EXPECT_EQ(message(t), "static: column 1 is 'macs' (1) here and missing in the checkpoint");
  t[1].columns.clear();
  EXPECT_EQ(message(t), "static: column 0 is missing here and 'batch' (1) in the checkpoint");
  t = c.tables;
  t[0].name = "dippm";
  EXPECT_EQ(message(t), "checkpoint: feature table 'ops' where 'dippm' is expected");
  t.pop_back();
  EXPECT_EQ(message(t), "checkpoint: 2 feature tables, 1 expected");
}

TEST(Checkpoints, NameTheParameterThatDiffers) {
  const Checkpoint c = example();
  const auto message = [&](auto&& layer, const std::vector<NamedTensor>& tensors, const std::string& prefix = {}) {
    const Matrix<float> before = layer.weight.value;
    Diagnostics diags;
    EXPECT_FALSE(load(tensors, parameters<float>(layer, prefix), diags));
    EXPECT_TRUE((layer.weight.value.flat() == before.flat()).all());
    return diags.all().at(0).name + ": " + diags.all().at(0).message;
  };
  EXPECT_EQ(message(Linear<float>(3, 2), c.tensors, "fc."), "fc.weight: parameter: not in the checkpoint");
  EXPECT_EQ(message(Linear<float>(4, 2), c.tensors), "weight: parameter: 2x3 in the checkpoint, 2x4 in the model");
  EXPECT_EQ(message(Linear<float>(3, 2, Bias::No), c.tensors),
            "bias: parameter: in the checkpoint, but not in the model");
}

TEST(Checkpoints, RefuseHostileContainers) {
  const std::string whole = R"({"w":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";
  Diagnostics diags;
  ASSERT_TRUE(parse_safetensors(file(whole, 8), diags)) << diags.str();
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return complaint(file(text, 8));
  };
  EXPECT_EQ(complaint(""), "no safetensors file: shorter than 8 bytes");
  EXPECT_EQ(complaint(std::string(8, '\xff')),
            "no safetensors file: header of 18446744073709551615 bytes in a file of 8");
  EXPECT_EQ(complaint(file(whole, 8).substr(0, 20)), "no safetensors file: header of 56 bytes in a file of 20");
  EXPECT_EQ(complaint(file("[]")), "header is not a JSON object");
  EXPECT_EQ(complaint(file("{\"w\":")), "header is not a JSON object");
  EXPECT_EQ(complaint(file("{\"w\":" + std::string(100000, '['))), "header is not a JSON object");
  EXPECT_EQ(complaint(file("{\"w\":" + std::string(100000, '[') + std::string(100000, ']') + "}")),
            "header nests deeper than 8");
  EXPECT_EQ(complaint(file(R"({"w":{"a":1},"w":{}})")), "header has 'w' twice");
  EXPECT_EQ(complaint(file(R"({"w":{"a":1,"a":2}})")), "header has 'a' twice");
  EXPECT_EQ(complaint(file(R"({"__metadata__":[]})")), "__metadata__ is not an object");
  EXPECT_EQ(complaint(file(R"({"__metadata__":{"k":1}})")), "__metadata__: 'k' is not a string");
  EXPECT_EQ(complaint(file(R"({"w":7})")), "w: tensor: wants dtype, shape and data_offsets");
  EXPECT_EQ(with("F32", "F16"), "w: tensor: dtype is not F32");
  EXPECT_EQ(with("[1,2]", "[1,2,1]"), "w: tensor: shape is not a list of one or two extents");
  EXPECT_EQ(with("[1,2]", "[]"), "w: tensor: shape is not a list of one or two extents");
  EXPECT_EQ(with("[1,2]", "[-1,2]"), "w: tensor: shape has an extent that is no count");
  EXPECT_EQ(with("[1,2]", "[1,1e3]"), "w: tensor: shape has an extent that is no count");
  EXPECT_EQ(with("[1,2]", "[4294967296,4294967296]"), "w: tensor: shape 4294967296x4294967296 does not take 8 bytes");
  EXPECT_EQ(with("[1,2]", "[0,18446744073709551615]"), "w: tensor: shape 0x18446744073709551615 does not take 8 bytes");
  EXPECT_EQ(with("[0,8]", "[0,7]"), "w: tensor: shape 1x2 does not take 7 bytes");
  EXPECT_EQ(with("[0,8]", "[0,16]"), "w: tensor: offsets 0..16 leave the 8 bytes of data");
  EXPECT_EQ(with("[0,8]", "[8,0]"), "w: tensor: offsets 8..0 leave the 8 bytes of data");
  EXPECT_EQ(with("[0,8]", "8"), "w: tensor: data_offsets is not a pair of counts");
  EXPECT_EQ(complaint(file(whole, 12)), "12 bytes of data, 8 described");
  EXPECT_EQ(
      complaint(file(
          R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
          4)),
      "b: tensor: begins at 0, the one before ends at 4");
  std::string nan = file(whole, 8);
  const float bad = NAN;
  std::memcpy(nan.data() + nan.size() - 4, &bad, 4);
  EXPECT_EQ(complaint(nan), "w: tensor: entry 1 is not a finite number");
}

TEST(Checkpoints, RefuseHostileMetadata) {
  const Checkpoint c = example();
  Diagnostics none;
  const Tensors good = *parse_safetensors(write_checkpoint(c), none);
  const auto message = [&](const std::string& key, std::optional<std::string> value) {
    Tensors bad = good;
    if (value) bad.metadata[key] = *value;
    else bad.metadata.erase(key);
    Diagnostics diags;
    EXPECT_FALSE(parse_checkpoint(write_safetensors(bad), diags));
    EXPECT_EQ(diags.errors(), 1u);
    return diags.all().empty() ? "" : diags.all()[0].message;
  };
  EXPECT_EQ(message("perfc.model", {}), "checkpoint: perfc.model is missing from the metadata");
  EXPECT_EQ(message("perfc.tables", "{}"), "checkpoint: perfc.tables is not what perfc writes");
  EXPECT_EQ(message("perfc.tables", std::string(100000, '[')), "checkpoint: perfc.tables is not what perfc writes");
  EXPECT_EQ(message("perfc.tables", "[1]"), "checkpoint: perfc.tables wants a string 'name'");
  EXPECT_EQ(message("perfc.tables", R"([{"name":"t"}])"), "checkpoint: perfc.tables wants 'columns'");
  EXPECT_EQ(message("perfc.tables", R"([{"name":"t","columns":[{"name":"a","unit":"1","scale":"sqrt"}]}])"),
            "checkpoint: perfc.tables has the unknown scale 'sqrt'");
  EXPECT_EQ(message("perfc.tables",
                    R"([{"name":"t","columns":[{"name":"a","unit":"1","scale":"linear","mean":0,"deviation":0}]}])"),
            "checkpoint: perfc.tables has a deviation of column 'a' that is not positive");
  EXPECT_EQ(
      message(
          "perfc.tables",
          R"([{"name":"t","columns":[{"name":"a","unit":"1","scale":"linear","mean":0,"deviation":1},{"name":"b","unit":"1"}]}])"),
      "checkpoint: perfc.tables normalises only some columns of 't'");
  EXPECT_EQ(message("perfc.vocabulary", "[1]"), "checkpoint: perfc.vocabulary wants strings");
  EXPECT_EQ(message("perfc.outputs", R"([{"name":"a","unit":"1"}])"), "checkpoint: perfc.outputs wants finite numbers");
  EXPECT_EQ(message("perfc.settings", R"({"a":1e999})"), "checkpoint: perfc.settings is not what perfc writes");
  EXPECT_EQ(message("perfc.settings", R"({"a":"x"})"), "checkpoint: perfc.settings wants finite numbers");
  EXPECT_EQ(message("perfc.provenance", R"({"a":1})"), "checkpoint: perfc.provenance wants a string 'a'");
}

TEST(Checkpoints, SurviveEveryFlippedAndEveryMissingByte) {
  const std::string bytes = write_checkpoint(example());
  std::size_t refused = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    Diagnostics diags;
    const bool read = static_cast<bool>(parse_checkpoint(flipped, diags));
    EXPECT_EQ(read, diags.errors() == 0) << i;
    refused += !read;
    Diagnostics cut;
    EXPECT_FALSE(parse_checkpoint(std::string_view(bytes).substr(0, i), cut));
    EXPECT_EQ(cut.errors(), 1u) << i;
  }
  EXPECT_GT(refused, bytes.size() / 4);
}

}  // namespace
}  // namespace perfc
