// Weights of files that are read in parts: left out, with all lengths around them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "frontends/common/piped.h"
#include "frontends/onnx/onnx.h"
#include "ir/text/printer.h"

namespace perfc {
namespace {

std::string varint(std::uint64_t v) {
  std::string out;
  for (; v > 0x7f; v >>= 7) out += static_cast<char>((v & 0x7f) | 0x80);
  return out + static_cast<char>(v);
}
std::string number(std::uint32_t field, std::uint64_t v) { return varint(field << 3) + varint(v); }
std::string message(std::uint32_t field, const std::string& payload) {
  return varint(field << 3 | 2) + varint(payload.size()) + payload;
}
std::string floats(const std::string& name, std::uint64_t rows, std::uint64_t columns, char filled) {
  return number(1, rows) + number(1, columns) + number(2, 1) + message(8, name) +
         message(9, std::string(rows * columns * 4, filled));
}
std::string value(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
  const std::string dims = message(1, number(1, rows)) + message(1, number(1, columns));
  return message(1, name) + message(2, message(1, number(1, 1) + message(2, dims)));
}
std::string node(const std::string& op, const std::string& a, const std::string& b, const std::string& out) {
  return message(1, a) + message(1, b) + message(2, out) + message(4, op);
}

/// x · w + c + b, where c is an attribute's tensor.
std::string model(char filled) {
  const std::string constant =
      message(2, "c") + message(4, "Constant") +
      message(5, message(1, "value") + message(5, floats("", 8, 4096, filled)) + number(20, 4));
  return number(1, 9) + message(8, number(2, 17)) +
         message(7, message(1, constant) + message(1, node("MatMul", "x", "w", "p")) +
                        message(1, node("Add", "p", "c", "q")) + message(1, node("Add", "q", "b", "y")) +
                        message(5, floats("w", 256, 4096, filled)) + message(5, floats("b", 1, 4096, filled)) +
                        message(11, value("x", 8, 256)) + message(12, value("y", 8, 4096)));
}

/// What is kept of a file.
std::string kept(const std::string& file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> f(std::tmpfile(), std::fclose);
  std::fwrite(file.data(), 1, file.size(), f.get());
  std::fflush(f.get());
  EXPECT_EQ(::lseek(fileno(f.get()), 0, SEEK_SET), 0);
  PipeBytes bytes(fileno(f.get()), static_cast<std::uint64_t>(file.size()));
  EXPECT_TRUE(bytes.keep(4096));
  EXPECT_TRUE(read_without_weights(bytes, onnx::kWeightFields)) << bytes.error();
  return std::string(bytes.bytes());
}

std::string imported(std::string bytes) {
  Diagnostics diags("m.onnx");
  const auto graph = onnx::import_binary(Source::from_bytes("m.onnx", std::move(bytes)), {}, diags);
  return graph ? print_graph(*graph) : diags.str();
}

TEST(LeftOut, TheGraphIsTheSame) {
  const std::string file = model('\1');
  const std::string part = kept(file);
  EXPECT_GT(file.size(), std::size_t{4} << 20);
  EXPECT_LT(part.size(), std::size_t{24} << 10);  // a vector of 16 KiB is no weight to leave out
  EXPECT_EQ(imported(file).find("error"), std::string::npos);
  EXPECT_EQ(imported(part), imported(file));
}

TEST(LeftOut, ZerosMayBeAMask) {
  const std::string file = model('\0');
  EXPECT_EQ(kept(file), file);
}

TEST(LeftOut, ATruncatedFileIsDamaged) {
  const std::string file = model('\1');
  const std::string part = kept(file.substr(0, file.size() / 2));
  EXPECT_NE(imported(part).find("error"), std::string::npos);
}

}  // namespace
}  // namespace perfc
