#include "frontends/folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace perfc::testing {
namespace {

namespace fs = std::filesystem;

/// A folder with empty files of these names.
class Folder {
 public:
  explicit Folder(std::initializer_list<const char*> files)
      : path_(fs::temp_directory_path() /
              ("perfc_folder_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(path_);
    fs::create_directory(path_);
    for (const char* file : files) std::ofstream(path_ / file).put(' ');
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  /// The name of the model file in it, or the message.
  std::string model() const {
    Diagnostics diags("DIR");
    const auto found = model_file_in(path_.string(), diags);
    return found ? fs::path(*found).filename().string() : diags.str();
  }

 private:
  fs::path path_;
};

TEST(Folder, ASavedModelGoesFirst) {
  EXPECT_EQ(Folder({"saved_model.pb", "model.pdmodel"}).model(), "saved_model.pb");
  EXPECT_EQ(Folder({"saved_model.pbtxt", "keras_metadata.pb"}).model(), "saved_model.pbtxt");
}

TEST(Folder, PaddlesProgramOfEachAge) {
  EXPECT_EQ(Folder({"__model__", "__params__"}).model(), "__model__");
  EXPECT_EQ(Folder({"inference.pdmodel", "inference.pdiparams"}).model(), "inference.pdmodel");
  EXPECT_EQ(Folder({"inference.json", "inference.yml"}).model(), "inference.json");
  EXPECT_EQ(Folder({"net.json", "net.pdiparams", "config.json"}).model(), "net.json");
}

TEST(Folder, SeveralProgramsOrNone) {
  EXPECT_EQ(Folder({"a.pdmodel", "b.pdmodel"}).model(),
            "DIR: error: cannot read: is a directory with several PaddlePaddle programs (a.pdmodel, b.pdmodel); name "
            "one\n");
  EXPECT_EQ(Folder({"config.json"}).model(),
            "DIR: error: cannot read: is a directory without a saved_model.pb or saved_model.pbtxt (TensorFlow), a "
            "__model__, *.pdmodel or inference.json (PaddlePaddle); name the model file in it\n");
}

TEST(Folder, FilesStayAsTheyAre) {
  Diagnostics diags;
  EXPECT_EQ(*model_file_in("no/such.onnx", diags), "no/such.onnx");
  EXPECT_EQ(*model_file_in("-", diags), "-");
}

}  // namespace
}  // namespace perfc::testing
