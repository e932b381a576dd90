/// ProgramDesc: Paddle's paddle/fluid/framework/framework.proto, of which the
/// messages below name what is read by number.
#include <fmt/format.h>

#include "frontends/common/wire.h"
#include "frontends/paddle/program.h"

namespace perfc::paddle {
namespace {

using wire::Field;
using wire::WireType;

/// AttrType of framework.proto, as far as the kind of a value depends on it.
enum AttrKind : std::int64_t {
  kInt,
  kFloat,
  kString,
  kInts,
  kFloats,
  kStrings,
  kBool,
  kBools,
  kBlock,
  kLong,
  kBlocks,
  kLongs,
  kFloat64s,
  kVar,
  kVars,
  kFloat64,
  kScalar,
  kScalars,
};

class DescriptorReader {
 public:
  DescriptorReader(std::string_view bytes, Diagnostics& diags) : bytes_(bytes), diags_(diags) {}

  Result<Program> run() {
    Program out;
    wire::Reader r(bytes_);
    Field f;
    while (r.next(f)) {
      if (f.number != 1 || f.type != WireType::Bytes) continue;  // version, op_version_map
      if (out.blocks.size() >= kMaxBlocks) return diags_.error(fmt::format("more than {} blocks", kMaxBlocks));
      auto b = block(f.bytes);
      if (!b) return Failure{};
      out.blocks.push_back(*std::move(b));
    }
    if (!r.ok()) return damaged(r.where(), "the program");
    if (out.blocks.empty()) return diags_.error("not a PaddlePaddle program: it holds no block");
    return out;
  }

 private:
  SourceLoc place(const char* at, std::int64_t op = -1) const {
    SourceLoc loc;
    loc.node = op;
    if (at >= bytes_.data() && at <= bytes_.data() + bytes_.size()) loc.offset = at - bytes_.data();
    return loc;
  }
  Failure damaged(const char* at, std::string_view what) const {
    return diags_.error(place(at), {},
                        fmt::format("damaged or truncated file: cannot decode {}; save the model again", what));
  }

  Result<Block> block(std::string_view message) {
    Block out;
    wire::Reader r(message);
    Field f;
    while (r.next(f)) {
      if (f.number == 2 && f.type == WireType::Varint) out.parent = static_cast<std::int32_t>(f.value);
      if (f.type != WireType::Bytes) continue;
      if (f.number == 3 && !variable(f.bytes, out)) return Failure{};
      if (f.number == 4) {
        auto o = operation(f.bytes, static_cast<std::int64_t>(out.ops.size()));
        if (!o) return Failure{};
        out.ops.push_back(*std::move(o));
      }
    }
    if (!r.ok()) return damaged(r.where(), "a block");
    return out;
  }

  Status variable(std::string_view message, Block& out) {
    std::string_view name;
    Variable v{.loc = place(message.data())};
    wire::Reader r(message);
    Field f;
    while (r.next(f)) {
      if (f.number == 1 && f.type == WireType::Bytes) name = f.bytes;
      if (f.number == 2 && f.type == WireType::Bytes) {
        auto t = var_type(f.bytes);
        if (!t) return Failure{};
        v.type = *std::move(t);
      }
      if (f.number == 3 && f.type == WireType::Varint && f.value != 0) v.role = Variable::Role::Weight;
    }
    if (!r.ok()) return damaged(r.where(), "a variable");
    v.label = name;
    // Feed and fetch lists persist too, but are no tensors.
    if (!v.type.is_tensor()) v.role = Variable::Role::Value;
    out.vars[name] = std::move(v);
    return ok();
  }

  /// VarType: None for what is no tensor (step scopes, feed lists, readers).
  Result<Type> var_type(std::string_view message) {
    Type out;
    wire::Reader r(message);
    Field f;
    while (r.next(f)) {
      if (f.type != WireType::Bytes) continue;
      if (f.number == 2) {  // selected_rows: TensorDesc
        auto t = tensor(f.bytes);
        if (!t) return Failure{};
        out = *std::move(t);
      } else if (f.number == 3 || f.number == 4) {  // lod_tensor, tensor_array: {TensorDesc}
        wire::Reader inner(f.bytes);
        Field d;
        while (inner.next(d)) {
          if (d.number != 1 || d.type != WireType::Bytes) continue;
          auto t = tensor(d.bytes);
          if (!t) return Failure{};
          if (*t) out = f.number == 3 ? *t : Type::sequence(*t);
        }
        if (!inner.ok()) return damaged(inner.where(), "a variable's type");
      }
    }
    if (!r.ok()) return damaged(r.where(), "a variable's type");
    return out;
  }

  Result<Type> tensor(std::string_view message) {
    DType dtype = DType::Undefined;
    Shape shape;
    wire::Reader r(message);
    Field f;
    while (r.next(f)) {
      if (f.number == 1 && f.type == WireType::Varint) dtype = dtype_of(f.as_int());
      if (f.number != 2) continue;
      std::vector<std::int64_t> dims;
      if (!wire::append_scalars(f, WireType::Varint, 64, dims, [](const Field& e) { return e.as_int(); })) {
        return damaged(message.data(), "dims");
      }
      for (std::int64_t d : dims) {
        if (shape.size() >= 64) break;
        shape.push_back(d < 0 ? Dim::unknown() : Dim(d));
      }
    }
    if (!r.ok()) return damaged(r.where(), "a tensor's type");
    if (dtype == DType::Undefined) return Type{};
    return Type::tensor(dtype, std::move(shape));
  }

  Result<Operation> operation(std::string_view message, std::int64_t index) {
    Operation out;
    out.loc = place(message.data(), index);
    wire::Reader r(message);
    Field f;
    while (r.next(f)) {
      if (f.type != WireType::Bytes) continue;
      if (f.number == 3) out.type = f.bytes;
      if (f.number == 1 || f.number == 2) {
        auto s = slot(f.bytes);
        if (!s) return Failure{};
        (f.number == 1 ? out.inputs : out.outputs).push_back(*std::move(s));
      }
      if (f.number == 4 && !attribute(f.bytes, out)) return Failure{};
    }
    if (!r.ok()) return damaged(r.where(), "an operation");
    return out;
  }

  Result<Slot> slot(std::string_view message) {
    Slot out;
    wire::Reader r(message);
    Field f;
    while (r.next(f)) {
      if (f.type != WireType::Bytes) continue;
      if (f.number == 1) out.name = f.bytes;
      if (f.number == 2 && out.values.size() < kMaxListLength) out.values.push_back(f.bytes);
    }
    if (!r.ok()) return damaged(r.where(), "an operation's arguments");
    return out;
  }

  Status attribute(std::string_view message, Operation& out) {
    std::string_view name;
    std::int64_t kind = -1, integer = 0;
    double real = 0;
    std::string_view text;
    std::vector<std::int64_t> ints, blocks;
    std::vector<double> reals;
    std::vector<std::string> strings;
    std::vector<std::string_view> vars, scalars;
    const auto as_int = [](const Field& e) { return e.as_int(); };
    const auto int32 = [](const Field& e) { return static_cast<std::int64_t>(static_cast<std::int32_t>(e.value)); };
    bool good = true;
    wire::Reader r(message);
    Field f;
    while (good && r.next(f)) {
      switch (f.number) {
        case 1:
          name = f.bytes;
          break;
        case 2:
          kind = f.as_int();
          break;
        case 3:
          integer = static_cast<std::int32_t>(f.value);
          break;
        case 4:
          real = f.as_float();
          break;
        case 5:
          text = f.bytes;
          break;
        case 6:
          good = wire::append_scalars(f, WireType::Varint, kMaxListLength, ints, int32);
          break;
        case 7:
          good = wire::append_scalars(f, WireType::Fixed32, kMaxListLength, reals,
                                      [](const Field& e) { return double{e.as_float()}; });
          break;
        case 8:
          if (strings.size() < kMaxListLength) strings.emplace_back(f.bytes);
          break;
        case 10:
        case 13:
          integer = f.as_int();
          break;
        case 11:
        case 15:
          good = wire::append_scalars(f, WireType::Varint, kMaxListLength, ints, as_int);
          break;
        case 12:
        case 14:
          good = wire::append_scalars(f, WireType::Varint, kMaxBlocks, blocks, int32);
          break;
        case 16:
          good = wire::append_scalars(f, WireType::Fixed64, kMaxListLength, reals,
                                      [](const Field& e) { return e.as_double(); });
          break;
        case 17:
        case 18:
          if (vars.size() < kMaxListLength) vars.push_back(f.bytes);
          break;
        case 19:
          real = f.as_double();
          break;
        case 20:
        case 21:
          if (scalars.size() < kMaxListLength) scalars.push_back(f.bytes);
          break;
        default:
          break;
      }
      if (f.number == 8 && name == "op_callstack") return ok();  // where Python made the operation
    }
    if (!r.ok() || !good) return damaged(message.data(), "an attribute");
    switch (kind) {
      case kInt:
      case kBool:
      case kLong:
        out.attrs.emplace_back(name, integer);
        break;
      case kFloat:
      case kFloat64:
        out.attrs.emplace_back(name, real);
        break;
      case kString:
        out.attrs.emplace_back(name, std::string(text));
        break;
      case kInts:
      case kBools:
      case kLongs:
        out.attrs.emplace_back(name, std::move(ints));
        break;
      case kFloats:
      case kFloat64s:
        out.attrs.emplace_back(name, std::move(reals));
        break;
      case kStrings:
        out.attrs.emplace_back(name, std::move(strings));
        break;
      case kBlock:
      case kBlocks:
        for (std::int64_t b : blocks) out.blocks.push_back(static_cast<std::uint32_t>(b < 0 ? UINT32_MAX : b));
        break;
      case kVar:
      case kVars:  // operands by another name
        out.inputs.push_back({name, std::move(vars)});
        break;
      case kScalar:
      case kScalars:
        return scalar_attribute(name, kind, scalars, out);
      default:
        break;  // later kinds: nothing is read that has them
    }
    return ok();
  }

  /// Scalar {type, b, i, r}: a list of integers unless one of them is real.
  Status scalar_attribute(std::string_view name, std::int64_t kind, const std::vector<std::string_view>& scalars,
                          Operation& out) {
    std::vector<std::int64_t> ints;
    std::vector<double> reals;
    bool real = false;
    for (std::string_view s : scalars) {
      std::int64_t i = 0;
      double d = 0;
      bool is_real = false;
      wire::Reader r(s);
      Field f;
      while (r.next(f)) {
        if (f.number == 1) is_real = f.value >= 3;  // LONG = 2, FLOAT64 = 3
        if ((f.number == 2 || f.number == 3) && f.type == WireType::Varint) i = f.as_int();
        if (f.number == 4 && f.type == WireType::Fixed64) d = f.as_double();
      }
      if (!r.ok()) return damaged(r.where(), "a scalar");
      real = real || is_real;
      ints.push_back(i);
      reals.push_back(is_real ? d : static_cast<double>(i));
    }
    if (kind == kScalars) {
      if (real) out.attrs.emplace_back(name, std::move(reals));
      else out.attrs.emplace_back(name, std::move(ints));
    } else if (!ints.empty()) {
      if (real) out.attrs.emplace_back(name, reals.front());
      else out.attrs.emplace_back(name, ints.front());
    }
    return ok();
  }

  std::string_view bytes_;
  Diagnostics& diags_;
};

}  // namespace

Result<Program> read_descriptor(std::string_view bytes, Diagnostics& diags) {
  return DescriptorReader(bytes, diags).run();
}

}  // namespace perfc::paddle
