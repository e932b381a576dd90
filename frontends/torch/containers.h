#pragma once
/// Lists, tuples and dicts of Python as operations of a program use them, and what all of Python's operations share.
#include "frontends/torch/call.h"

namespace perfc::torch::python {

inline Values one(Value v) { return std::vector<Value>{std::move(v)}; }
inline Values nothing() { return std::vector<Value>{}; }
Status arity(Call& c, std::size_t least);

/// A container that was made or changed, if it is no larger than any program needs.
Values container(Call& c, Value v);
/// A place among `size` items; negative ones count from the end.
Result<std::size_t> position(Call& c, const Value& index, std::size_t size);
/// Keys: strings and ints.
bool same_key(const Value& a, const Value& b);

Values make_list(Call& c);
Values make_tuple(Call& c);
Values make_dict(Call& c);
/// Of a dict, of a list of pairs, or of nothing.
Values copy_dict(Call& c);
Values update(Call& c);
Values is_instance(Call& c);
Values unpack(Call& c);
Values get_item(Call& c);
Values set_item(Call& c);
Values contains(Call& c);
Values length(Call& c);
Values append(Call& c);
Values extend(Call& c);
Values insert(Call& c);
Values pop(Call& c);
Values reverse(Call& c);
Values copy_list(Call& c);
/// Of `l`: start, end and step are the call's arguments.
Values slice_list(Call& c, const List& l);
Values range_number(Call& c);
/// Keys, values or pairs, by the operation's name.
Values dict_part(Call& c);

}  // namespace perfc::torch::python
