/// Which arguments are weights, by what the function does with them.
#include <algorithm>
#include <unordered_map>

#include "frontends/stablehlo/importer.h"

namespace perfc::stablehlo {
namespace {

constexpr int kComputed = -1;  ///< from several arguments, or by an operation that tells their roles
constexpr int kNeutral = -2;   ///< constants, and arguments that are weights

/// Follows arguments through what is done to each of them alone.
class Roles {
 public:
  explicit Roles(const Function& f) : arguments_(f.body.arguments), data_(size(), false), weight_(size(), false) {
    for (std::size_t i = 0; i < size(); ++i) {
      from_[arguments_[i].name] = static_cast<int>(i);
      data_[i] = !is_float(arguments_[i].type.dtype());
    }
    for (const Operation& o : f.body.operations) visit(o);
  }

  bool any_data() const { return std::ranges::find(data_, true) != data_.end(); }
  std::vector<bool> weights() const {
    std::vector<bool> out(data_);
    out.flip();
    return out;
  }

 private:
  std::size_t size() const { return arguments_.size(); }

  int source(const Operation& o, std::size_t i) const {
    const auto it = i < o.operands.size() ? from_.find(o.operands[i].name) : from_.end();
    return it == from_.end() ? kComputed : it->second;
  }

  void mark(std::vector<bool>& role, int argument) const {
    if (argument >= 0) role[static_cast<std::size_t>(argument)] = true;
  }

  /// A value that is spread along dims it does not have is a bias, a scale, a table of positions.
  bool spreads(const Operation& o) const {
    if (o.name != "stablehlo.broadcast_in_dim" || o.operand_types.size() != 1 || o.result_types.size() != 1)
      return false;
    const auto few = o.operand_types[0].elements(), many = o.result_types[0].elements();
    return few && many && *few < *many;
  }

  void visit(const Operation& o) {
    const int first = source(o, 0), second = source(o, 1);
    bool tells = true;
    if (o.name == "stablehlo.convolution") {
      mark(data_, first);
      mark(weight_, second);
    } else if (o.name == "stablehlo.dot_general" || o.name == "stablehlo.dot") {
      // A weight may stand first where what follows is computed; two arguments are data and its weight.
      mark(second == kComputed ? weight_ : data_, first);
      mark(weight_, second);
    } else if (o.name == "stablehlo.gather") {
      mark(weight_, first);
      mark(data_, second);
    } else if (o.name.starts_with("stablehlo.batch_norm")) {
      mark(data_, first);
      for (std::size_t i = 1; i < o.operands.size(); ++i) mark(weight_, source(o, i));
    } else {
      tells = false;
    }
    int result = tells ? kComputed : kNeutral;
    if (spreads(o)) {
      mark(weight_, first);
      // A number that the program made: torch_xla passes constants like arguments.
      if (first >= 0 && arguments_[static_cast<std::size_t>(first)].type.rank() == 0)
        data_[static_cast<std::size_t>(first)] = false;
    } else if (!tells) {
      for (std::size_t i = 0; i < o.operands.size(); ++i) {
        const int s = source(o, i);
        if (s == kNeutral || (s >= 0 && weight_[static_cast<std::size_t>(s)])) continue;
        result = result == kNeutral || result == s ? s : kComputed;
      }
    }
    for (const ResultName& r : o.results) from_[r.name] = result;
  }

  const std::vector<Argument>& arguments_;
  std::vector<bool> data_, weight_;
  std::unordered_map<std::string_view, int> from_;
};

}  // namespace

std::vector<bool> weights_by_use(const Function& f) {
  const Roles roles(f);
  return roles.any_data() ? roles.weights() : std::vector<bool>();
}

}  // namespace perfc::stablehlo
