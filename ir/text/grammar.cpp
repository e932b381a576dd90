#include "ir/text/grammar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/range/iterator_range.hpp>
#include <boost/spirit/home/x3.hpp>
#include <type_traits>

/// An expected construct goes by its own name, whatever action is attached.
namespace boost::spirit::x3 {
template <class Subject, class Action>
struct get_info<action<Subject, Action>> {
  using result_type = std::string;
  std::string operator()(const action<Subject, Action>& parser) const { return what(parser.subject); }
};
}  // namespace boost::spirit::x3

namespace perfc::text {
namespace {

namespace x3 = boost::spirit::x3;
using x3::char_;
using x3::lexeme;
using x3::lit;
using x3::raw;

// ---- Actions: put what was parsed into a member of the enclosing rule's struct.

template <class T>
T&& plain(T&& value) {
  return std::forward<T>(value);
}
Word plain(boost::iterator_range<const char*> range) {
  return {std::string_view(range.begin(), static_cast<std::size_t>(range.size()))};
}

template <auto Member>
constexpr auto into = [](auto& context) { x3::_val(context).*Member = plain(std::move(x3::_attr(context))); };
template <auto Member>
constexpr auto append =
    [](auto& context) { (x3::_val(context).*Member).push_back(plain(std::move(x3::_attr(context)))); };
template <auto Member, auto Value>
constexpr auto assign = [](auto& context) { x3::_val(context).*Member = Value; };

constexpr auto as_is = [](auto& context) { x3::_val(context) = x3::_attr(context); };
constexpr auto as_word = [](auto& context) { x3::_val(context) = plain(x3::_attr(context)); };
template <Scalar::Kind K>
constexpr auto as_scalar = [](auto& context) {
  x3::_val(context) = {K, plain(x3::_attr(context)).text};
};

// Defines the grammar rule NAME, which yields an ATTRIBUTE; errors say WHAT was expected. A function parses it, so
// that no expression holds the type of a whole sub-grammar: expanding those took most of the compile time.
#define PERFC_RULE(NAME, ATTRIBUTE, WHAT, ...)            \
  struct NAME##_id {};                                    \
  const auto NAME = x3::rule<NAME##_id, ATTRIBUTE>{WHAT}; \
  const auto NAME##_def = __VA_ARGS__;                    \
  BOOST_SPIRIT_DEFINE(NAME)

// ---- Words

const auto blank = char_(" \t\r\n") | ("//" >> *(char_ - '\n'));
const auto word_char = char_("A-Za-z0-9_");
const auto digit = char_("0-9");  // x3::digit asserts on bytes beyond ASCII
const auto hex_digit = char_("0-9a-fA-F");

bool is_word_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Whether `word` stands at `at` and ends there.
bool stands(std::string_view word, const char* at, const char* end) {
  if (!std::string_view(at, static_cast<std::size_t>(end - at)).starts_with(word)) return false;
  const char* const next = at + word.size();
  return next == end || !is_word_char(*next);
}

/// One of some whole words.
template <std::size_t N>
struct Keyword : x3::parser<Keyword<N>> {
  using attribute_type = Word;
  static constexpr bool has_attribute = true;

  template <class Context, class Outer, class Attribute>
  bool parse(const char*& at, const char* const& end, const Context& context, Outer&, Attribute& attribute) const {
    x3::skip_over(at, end, context);
    for (const std::string_view word : words) {
      if (!stands(word, at, end)) continue;
      x3::traits::move_to(Word{{at, word.size()}}, attribute);
      at += word.size();
      return true;
    }
    return false;
  }

  std::array<std::string_view, N> words;
};
template <class... T>
constexpr Keyword<sizeof...(T)> keyword(const T&... words) {
  return {{}, {words...}};
}

PERFC_RULE(identifier, Word, "an identifier", raw[lexeme[char_("A-Za-z_") >> *word_char]][as_word])
PERFC_RULE(digits, Word, "a number", raw[lexeme[+digit]][as_word])
PERFC_RULE(string, Word, "a string",
           raw[lexeme[('"' >> *(('\\' >> (char_ - '\n')) | ~char_("\"\\\n"))) > '"']][as_word])
PERFC_RULE(quoted_symbol, Word, "a symbol",
           raw[lexeme[('\'' >> *(('\\' >> (char_ - '\n')) | ~char_("'\\\n"))) > '\'']][as_word])
PERFC_RULE(name, Word, "a name", identifier[as_word] | string[as_word])
PERFC_RULE(operator_name, Word, "an operator", raw[lexeme[identifier % '.']][as_word])
PERFC_RULE(element_type, Word, "an element type", identifier[as_word])

const auto exponent = char_("eE") >> -char_("+-") >> +digit;
const auto number = lexeme["nan(0x" >> +hex_digit >> ')'] |
                    lexeme[-lit('-') >> ((+digit >> -('.' >> *digit) >> -exponent) | (lit("inf") >> !word_char))];

PERFC_RULE(dim, Scalar, "a dim",
           quoted_symbol[as_scalar<Scalar::Kind::QuotedSymbol>] | raw[lit('?')][as_scalar<Scalar::Kind::Unknown>] |
               raw[number][as_scalar<Scalar::Kind::Number>] | identifier[as_scalar<Scalar::Kind::Symbol>])
PERFC_RULE(scalar, Scalar, "a value", string[as_scalar<Scalar::Kind::String>] | dim[as_is])

PERFC_RULE(list, List, "a list",
           (-keyword("ints", "floats", "strings")[into<&List::kind>] >> '[') >
               -(scalar[append<&List::elements>] % ',') > ']')

// ---- Types

PERFC_RULE(wrapper, TypeText::Wrapper, "a type",
           (keyword("Sequence", "Optional")[into<&TypeText::Wrapper::keyword>] > '[') |
               (keyword("Map")[into<&TypeText::Wrapper::keyword>] > '[' > element_type[into<&TypeText::Wrapper::key>] >
                ','))

using ShapeText = TypeText::ShapeText;
PERFC_RULE(shape, ShapeText, "a shape",
           lit('*')[assign<&ShapeText::ranked, false>] |
               ('(' > -(dim[append<&ShapeText::dims>] % ',' >> -lit(',')) > ')'))
PERFC_RULE(type, TypeText, "a type",
           *wrapper[append<&TypeText::wrappers>] >>
               ((keyword("Tensor", "SparseTensor")[into<&TypeText::keyword>] > '[' > shape[into<&TypeText::shape>] >
                 ',' > element_type[into<&TypeText::dtype>] > ']') |
                (keyword("Opaque")[into<&TypeText::keyword>] > '[' > name[into<&TypeText::name>] > ']') |
                keyword("None")[into<&TypeText::keyword>]) >>
               *lit(']')[([](auto& context) { ++x3::_val(context).closed; })])

// ---- Statements

PERFC_RULE(value_name, Word, "a value", raw[lexeme[+word_char]][as_word])
PERFC_RULE(reference, Reference, "a value",
           lexeme['%' > value_name[into<&Reference::name>] > -('.' > digits[into<&Reference::result>])])
PERFC_RULE(target, Reference, "a value", lexeme['%' > value_name[into<&Reference::name>]])

using AttributeKind = AttributeText::Kind;
PERFC_RULE(attribute, AttributeText, "an attribute",
           ((keyword("const") > list[into<&AttributeText::list>] > ':' > type[into<&AttributeText::type>]) >>
            x3::eps[assign<&AttributeText::kind, AttributeKind::Tensor>]) |
               ((keyword("weight") > ':' > type[into<&AttributeText::type>]) >>
                x3::eps[assign<&AttributeText::kind, AttributeKind::Tensor>]) |
               (list[into<&AttributeText::list>] >> x3::eps[assign<&AttributeText::kind, AttributeKind::List>]) |
               (type[into<&AttributeText::type>] >> x3::eps[assign<&AttributeText::kind, AttributeKind::Type>]) |
               scalar[into<&AttributeText::scalar>])

using ArgumentKind = Argument::Kind;
PERFC_RULE(argument, Argument, "an operand or an attribute",
           (&lit('%') >> reference[into<&Argument::value>] >> x3::eps[assign<&Argument::kind, ArgumentKind::Value>]) |
               (keyword("_") >> x3::eps[assign<&Argument::kind, ArgumentKind::Omitted>]) |
               ((name[into<&Argument::name>] > '=' > attribute[into<&Argument::attribute>]) >>
                x3::eps[assign<&Argument::kind, ArgumentKind::Attribute>]))

const auto add = [](auto& context) { x3::_val(context).push_back(std::move(x3::_attr(context))); };
PERFC_RULE(types, std::vector<TypeText>, "a type", ('(' > -(type[add] % ',') > ')') | type[add])

const auto at_name = '@' > name[into<&Definition::name>];
const auto of_table = -(keyword("table")[assign<&Definition::table, true>]);
const auto of_zeros = keyword("zeros")[assign<&Definition::zeros, true>];
using DefinitionKind = Definition::Kind;
PERFC_RULE(definition, Definition, "a definition",
           (((of_zeros | of_table) >> keyword("weight") > ':' > type[append<&Definition::types>] > -at_name) >>
            x3::eps[assign<&Definition::kind, DefinitionKind::Weight>]) |
               ((of_table >> keyword("const") > list[into<&Definition::contents>] > ':' >
                 type[append<&Definition::types>] > -at_name) >>
                x3::eps[assign<&Definition::kind, DefinitionKind::Const>]) |
               (operator_name[into<&Definition::op>] > '(' > -(argument[append<&Definition::arguments>] % ',') > ')' >
                -(lit(':')[assign<&Definition::typed, true>] > types[into<&Definition::types>]) > -at_name))

PERFC_RULE(statement_end, Word, "';'", raw[lit(';') | '{'][as_word])
const auto ends = [](auto& context) { x3::_val(context).opens_regions = x3::_attr(context).text == "{"; };
PERFC_RULE(statement, Statement, "a statement or the results",
           target[into<&Statement::target>] > -(':' > digits[into<&Statement::count>]) > '=' >
               definition[into<&Statement::definition>] > statement_end[ends])

PERFC_RULE(returned, Returned, "the results", '(' > -(reference[append<&Returned::values>] % ',') > ')' > '}')

// ---- Functions

PERFC_RULE(param, Param, "a param",
           target[into<&Param::target>] > ':' > type[into<&Param::type>] > -('@' > name[into<&Param::name>]) >
               -('=' > list[into<&Param::contents>]))
PERFC_RULE(result_name, Word, "a name", name[as_is] >> ':')
PERFC_RULE(result, ResultText, "a result", -result_name[into<&ResultText::name>] >> type[into<&ResultText::type>])
PERFC_RULE(header, Header, "a function",
           '@' > name[into<&Header::name>] > '(' > -(param[append<&Header::params>] % ',') > ')' >
               -(lit("->")[assign<&Header::has_results, true>] > '(' > -(result[append<&Header::results>] % ',') >
                 ')') > '{')

PERFC_RULE(version, Word, "the version line #[version = \"perfc-ir/1\"]",
           lit("#[") >> "version" >> '=' >> string[as_is] >> ']')
PERFC_RULE(opening, Word, "'def'", keyword("def")[as_word])
PERFC_RULE(region, Word, "'fn' or '}'", keyword("fn")[as_word])
PERFC_RULE(regions_end, Word, "'}'", raw['}' > lit(';')][as_word])
PERFC_RULE(end, Word, "the end of the file", raw[x3::eoi][as_word])

/// The next few characters, for "found …".
std::string found(const char* at, const char* end) {
  if (at == end) return "the end of the file";
  const auto is_word = [](char c) { return is_word_char(c) || c == '.'; };
  const char* stop = std::find_if_not(at, at + std::min<std::ptrdiff_t>(end - at, 40), is_word);
  if (stop == at) ++stop;
  while (stop != end && (static_cast<unsigned char>(*stop) & 0xc0) == 0x80) ++stop;
  return fmt::format("'{}'", std::string_view(at, static_cast<std::size_t>(stop - at)));
}

}  // namespace

template <class Parser, class... Attribute>
bool Reader::read(const Parser& parser, Attribute&... attribute) {
  const char* where = nullptr;
  try {
    if (x3::phrase_parse(at_, end_, parser, blank, attribute...)) return true;
    where = at_;
    error_ = x3::what(parser);
  } catch (const x3::expectation_failure<const char*>& failure) {
    where = failure.where();
    error_ = failure.which();
  }
  if (error_ == R"('"')" || error_ == "'''") {
    error_ = "the quote is not closed on its line";
  } else {
    x3::phrase_parse(where, end_, x3::eps, blank);
    error_ = fmt::format("expected {}, found {}", error_, found(where, end_));
  }
  error_at_ = where;
  return false;
}

char Reader::peek() {
  x3::phrase_parse(at_, end_, x3::eps, blank);
  return at_ == end_ ? '\0' : *at_;
}

bool Reader::version(Word& text) { return read(text::version, text); }
bool Reader::open_file(Header& h) { return read(opening) && read(header, h); }
bool Reader::open_region(Header& h) { return read(region) && read(header, h); }
bool Reader::statement(Statement& s) { return read(text::statement, s); }
bool Reader::returned(Returned& r) { return read(text::returned, r); }
bool Reader::close_regions() { return read(regions_end); }
bool Reader::end_of_file() { return read(end); }

}  // namespace perfc::text
