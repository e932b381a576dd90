#pragma once
/// The text form `.pir`, in Relay's manner. `parse_graph(print_graph(g)) == g`
/// for every graph (ir/text/parser.h).
///
///   #[version = "perfc-ir/1"]
///   def @main(%x: Tensor[(N, 3, 224, 224), float32]) -> (y: Tensor[(N, 64, 112, 112), float32]) {
///     %1 = weight : Tensor[(64, 3, 7, 7), float32] @"conv1.weight";
///     %2 = nn.conv2d(%x, %1, strides=[2, 2]) : Tensor[(N, 64, 112, 112), float32] @"/conv1/Conv";
///     (%2)
///   }
///
/// Grammar (`//` starts a comment that ends with its line):
///
///   file      = '#[version = "perfc-ir/1"]' 'def' function
///   function  = '@' NAME '(' [param {',' param}] ')' ['->' '(' [result {',' result}] ')']
///               '{' {statement} '(' [value {',' value}] ')' '}'
///   param     = target ':' type ['@' NAME] ['=' list]           list: its known contents
///   result    = [NAME ':'] type
///   statement = target '=' 'weight' [':' type] ['@' NAME] ';'   constant without contents
///             | target '=' 'const' list ':' type ['@' NAME] ';'
///             | target [':' COUNT] '=' OPERATOR '(' [arg {',' arg}] ')' [':' types] ['@' NAME]
///               ['{' {'fn' function} '}'] ';'
///   target    = '%' (NUMBER | IDENTIFIER)
///   value     = target ['.' RESULT]
///   arg       = value | '_' | NAME '=' attribute                '_': operand left out
///   types     = type | '(' [type {',' type}] ')'
///   attribute = INTEGER | REAL | STRING | list | type
///             | 'const' list ':' type | 'weight' ':' type       a tensor
///   list      = ['ints' | 'floats' | 'strings'] '[' [element {',' element}] ']'
///   element   = INTEGER | SYMBOL | '?' | REAL | STRING
///   type      = ('Tensor' | 'SparseTensor') '[' ('*' | '(' dims ')') ',' DTYPE ']' | 'None'
///             | 'Sequence' '[' type ']' | 'Optional' '[' type ']' | 'Map' '[' DTYPE ',' type ']'
///             | 'Opaque' '[' NAME ']'
///
/// A NUMBER is the node's id: nodes are numbered in execution order, params
/// included. An IDENTIFIER stands for the next free id and is also the node's
/// name. A NAME is an identifier or a string; a SYMBOL is an identifier or
/// 'quoted'. A REAL always has a point or an exponent, or is inf, nan or
/// nan(0xBITS). Only an empty list needs to say its kind, and `[]` holds ints.
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace perfc {

/// First line of every `.pir` file.
inline constexpr std::string_view kTextVersion = "perfc-ir/1";

/// The graph as `.pir` text, one line per node, ending with a newline.
std::string print_graph(const Graph&);

/// A type as the text form spells it. Unlike `to_string`, names that are not
/// identifiers are quoted, so that it can be read back.
std::string print_type(const Type&);
/// An attribute's value as the text form spells it.
std::string print_attr(const Attr&);

}  // namespace perfc
