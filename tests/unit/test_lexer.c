// Texts become the tokens the grammar names; lines, columns and names count as
// people count them.
#include "tests/unit/source_fixture.h"

#include "compiler/lexer.h"
#include "compiler/literal.h"

typedef struct lex_case {
  const char *source;
  const char *tokens;
} lex_case;

// A token as it is written here: its kind, or its text where the kind says
// little. `|` before one: a newline that counts.
static size_t write_token(char *out, size_t size, const char *text,
                          const tl_token *token) {
  static const char *const errors[] = {
      [TL_LEX_CHARACTER] = "character",
      [TL_LEX_STRING] = "string",
      [TL_LEX_TRIPLE_STRING] = "triple",
      [TL_LEX_TYPE] = "type",
      [TL_LEX_HOLE] = "hole",
      [TL_LEX_FORMAT] = "format",
      [TL_LEX_UNCLOSED] = "unclosed",
      [TL_LEX_STRAY] = "stray",
      [TL_LEX_MISMATCH] = "mismatch",
      [TL_LEX_SEMICOLON] = "semicolon",
      [TL_LEX_DEPTH] = "depth",
      [TL_LEX_NUMBER_POINT] = "2.",
      [TL_LEX_POINT_NUMBER] = ".5",
      [TL_LEX_NUMBER_NAME] = "2x",
  };
  const char *mark = token->flags & TL_TOKEN_AFTER_NEWLINE ? "| " : "";
  const char *word = tl_token_infos[token->kind].text;
  int length = (int)(token->end - token->begin);
  switch (token->kind) {
    case TL_TOKEN_END:
      return (size_t)snprintf(out, size, "%s", mark[0] ? "|" : "");
    case TL_TOKEN_ERROR:
      return (size_t)snprintf(out, size, "%s<%s> ", mark, errors[token->code]);
    case TL_TOKEN_UPDATE:
      return (size_t)snprintf(out, size, "%s%s= ", mark,
                              tl_operator_text((tl_operator)token->code));
    case TL_TOKEN_NAME:
    case TL_TOKEN_NUMBER:
    case TL_TOKEN_STRING:
    case TL_TOKEN_HEAD:
    case TL_TOKEN_MIDDLE:
    case TL_TOKEN_TAIL:
    case TL_TOKEN_FORMAT:
    case TL_TOKEN_TYPE:
      return (size_t)snprintf(out, size, "%s%.*s ", mark, length,
                              text + token->begin);
    default:
      return (size_t)snprintf(out, size, "%s%s ", mark, word);
  }
}

static void check_tokens(const lex_case *test) {
  source_fixture fixture;
  tl_tokens tokens;
  char text[2000];
  size_t length = 0;
  fixture_open_text(&fixture, test->source);
  assert_true(tl_lex(&tokens, &fixture.arena, &fixture.source, false));
  for (uint32_t i = 0; i < tokens.count; i++)
    length += write_token(text + length, sizeof text - length, test->source,
                          &tokens.items[i]);
  while (length && text[length - 1] == ' ') length--;
  text[length] = 0;
  if (strcmp(text, test->tokens) != 0)
    fail_msg("%s\n  gives    %s\n  expected %s", test->source, text,
             test->tokens);
  tl_tokens_release(&tokens, &fixture.arena);
  fixture_close_source(&fixture);
}

#define CHECK_ALL(cases)                                      \
  do {                                                        \
    (void)state;                                              \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) \
      check_tokens(&cases[i]);                                \
  } while (0)

static const lex_case sign_cases[] = {
    {"a+b-c*d/e%f@g", "a + b - c * d / e % f @ g"},
    {"a**b//c<<d>>e", "a ** b // c << d >> e"},
    {"a&b|c^~d", "a & b | c ^ ~ d"},
    {"a==b!=c<d<=e>f>=g", "a == b != c < d <= e > f >= g"},
    {"a=b=>c|>d", "a = b => c |> d"},
    {"a..b...c.d,e:f;g", "a .. b ... c . d , e : f ; g"},
    {"x**=1", "x **= 1"},
    {"x//=1", "x //= 1"},
    {"x<<=1", "x <<= 1"},
    {"x>>=1", "x >>= 1"},
    {"x+=1;x-=1;x*=1;x/=1", "x += 1 ; x -= 1 ; x *= 1 ; x /= 1"},
    {"x%=1;x@=1;x&=1;x|=1;x^=1", "x %= 1 ; x @= 1 ; x &= 1 ; x |= 1 ; x ^= 1"},
    {"a::b", "a : : b"},
    {"a×b÷c−d·e", "a * b / c - d @ e"},
    {"a≤b≥c≠d", "a <= b >= c != d"},
    {"a∧b∨c⊻¬d", "a & b | c ^ ~ d"},
    {"√x ∘ y² z³", "√ x ∘ y ² z ³"},
    {"a∈b∉c→d", "a in b ∉ c => d"},
    {"x×=2;x÷=2;x−=2;x·=y;x∨=y", "x *= 2 ; x /= 2 ; x -= 2 ; x @= y ; x |= y"},
    {"a∨==b", "a | == b"},
};

static void signs_are_read_longest_first(void **state) {
  CHECK_ALL(sign_cases);
}

static const lex_case name_cases[] = {
    {"fn if else while for in", "fn if else while for in"},
    {"break continue return try catch", "break continue return try catch"},
    {"import as global and or not", "import as global and or not"},
    {"true false none by fnord", "true false none by fnord"},
    {"σ x₀ größe 速度 f′ f″ _x x1", "σ x₀ größe 速度 f′ f″ _x x1"},
    {"Ⅷ अक्ष x١", "Ⅷ अक्ष x١"},
    {"₀x", "<character> x"},
    {"π∞π₂", "π ∞ π₂"},
    {"r r1 ri", "r r1 ri"},
    {"x²y³", "x ² y ³"},
};

static void names_follow_their_categories(void **state) {
  CHECK_ALL(name_cases);
}

static const lex_case number_cases[] = {
    {"0 42 1_000 0xff 0xF_f", "0 42 1_000 0xff 0xF_f"},
    {"2.5 2.5e-3 1e9 1E+9 1_0.0_1e1_0", "2.5 2.5e-3 1e9 1E+9 1_0.0_1e1_0"},
    {"2i 2.5i 1e3i", "2i 2.5i 1e3i"},
    {"0..n", "0 .. n"},
    {"1..-1", "1 .. - 1"},
    {"1.5..2.5", "1.5 .. 2.5"},
    {"x[1].re", "x [ 1 ] . re"},
    {"1.re", "1 . re"},
    {"2.", "<2.>"},
    {"2. + 1", "<2.> + 1"},
    {"2.e5", "<2.>"},
    {".5", "<.5>"},
    {"1 + .5e3", "1 + <.5>"},
    {"x.5", "x . 5"},
    {"2x", "<2x>"},
    {"2if", "<2x>"},
    {"2π", "<2x>"},
    {"1__0", "<2x>"},
    {"1_", "<2x>"},
    {"0x", "<2x>"},
    {"0xffi", "<2x>"},
    {"1e", "<2x>"},
    {"2ii", "<2x>"},
};

static void a_point_belongs_to_a_number_only_between_digits(void **state) {
  CHECK_ALL(number_cases);
}

static const lex_case string_cases[] = {
    {"\"\" \"a\" \"a\\\"b\"", "\"\" \"a\" \"a\\\"b\""},
    {"\"a{x}b\"", "\"a{ x }b\""},
    {"\"a{x}b{y}c\"", "\"a{ x }b{ y }c\""},
    {"\"{x:.3f}\"", "\"{ x :.3f }\""},
    {"\"{x:}\"", "\"{ x : }\""},
    {"\"{x:{w}}\"", "\"{ x :{ w } }\""},
    {"\"{x:>{w}.{p}f} {y}\"", "\"{ x :>{ w }.{ p }f } { y }\""},
    {"\"{x:{w:{v}}}\"", "\"{ x :{ w :{ v } } }\""},
    {"\"{{}}\"", "\"{{}}\""},
    {"\"{f(\"b{c}\")}\"", "\"{ f ( \"b{ c }\" ) }\""},
    {"\"{(a: 1)}\"", "\"{ ( a : 1 ) }\""},
    {"\"{x[1:2]}\"", "\"{ x [ 1 : 2 ] }\""},
    {"\"{if a { b } else { c }}\"", "\"{ if a { b } else { c } }\""},
    {"\"\"\"a\"b\n{x}\"\"\"", "\"\"\"a\"b\n{ x }\"\"\""},
    {"\"\"\"\"\"\"", "\"\"\"\"\"\""},
    {"r\"a\\b{c}\" r\"\"", "r\"a\\b{c}\" r\"\""},
    {"`3 * int64` `{x: f8}`", "`3 * int64` `{x: f8}`"},
    {"`{x: int64,\n y: int64}`", "`{x: int64,\n y: int64}`"},
    {"\"abc\nx", "<string> | x"},
    {"\"abc\\\nx", "<string> | x"},
    {"r\"abc\nx", "<string> | x"},
    {"\"\"\"abc\nx", "<triple>"},
    {"`abc\nx", "<type> | x"},
    {"\"{x\ny", "<hole> x | y"},
    {"\"{x\"\ny", "<hole> x | y"},
    {"\"a{x} b\ny", "\"a{ x <string> | y"},
    {"\"{x:a\"}\"", "<hole> x <format> \"}\""},
    {"\"{x:{{5}}\"", "<hole> x <format> { { 5 } }"},
    {"\"{x:{w\ny", "<hole> x <hole> w | y"},
};

static void strings_nest_through_their_holes(void **state) {
  CHECK_ALL(string_cases);
}

static const lex_case line_cases[] = {
    {"a\nb", "a | b"},
    {"a\r\nb\r\n", "a | b |"},
    {"\n\na\n\n# c\n\nb", "a | b"},
    {"a # b\nc", "a | c"},
    {"(a\nb)", "( a b )"},
    {"[a\nb]", "[ a b ]"},
    {"\"{a\n+ b}\"", "\"{ a + b }\""},
    {"{a\nb}", "{ a | b }"},
    {"({a\nb\n})", "( { a | b | } )"},
    {"({(a\nb)\nc})", "( { ( a b ) | c } )"},
    {"a +\nb", "a + b"},
    {"a =\nb", "a = b"},
    {"a +=\nb", "a += b"},
    {"a =>\nb", "a => b"},
    {"a |>\nb", "a |> b"},
    {"a,\nb", "a , b"},
    {"a.\nb", "a . b"},
    {"not\na", "not a"},
    {"a and\nb or\nc in\nd", "a and b or c in d"},
    {"a ..\nb", "a .. b"},
    {"a ∘\nb", "a ∘ b"},
    {"√\nb", "√ | b"},
    {"a\n|> b", "a |> b"},
    {"a\n\n# c\n  |> b", "a |> b"},
    {"}\nelse", "<stray> else"},
    {"a\ncatch", "a catch"},
    {"a\n+ b", "a | + b"},
    {"a\n.b", "a | . b"},
    {"return\na", "return | a"},
    {"\xef\xbb\xbfx", "x"},
};

static void the_innermost_bracket_decides_which_lines_end(void **state) {
  CHECK_ALL(line_cases);
}

static const lex_case bracket_cases[] = {
    {"(a", "<unclosed> a"},
    {"(a\nb", "<unclosed> a | b"},
    {"f(a[1)\nb", "f ( a <unclosed> 1 ) | b"},
    {"[a)\nb", "[ a <mismatch> | b"},
    {"a)\nb", "a <stray> | b"},
    {"{a)\n}", "{ a <mismatch> | }"},
    {"{(a}\nb", "{ <unclosed> a } | b"},
    {"\"{a)}\"", "\"{ a <mismatch> }\""},
    {"\"{(a}\"", "\"{ <unclosed> a }\""},
    {"(a;b)", "( a <semicolon> b )"},
    {"({a;b})", "( { a ; b } )"},
    {"$ §", "<character> <character>"},
};

static void an_unmatched_bracket_swallows_no_line(void **state) {
  CHECK_ALL(bracket_cases);
}

static void documentation_stands_directly_above(void **state) {
  (void)state;
  static const struct {
    const char *source;
    bool has_doc;
  } cases[] = {
      {"## a\nx", true},        {"## a\n## b\nx", true}, {"## a\n\nx", false},
      {"# a\nx", false},        {"## a\n# b\nx", false}, {"### a\nx", false},
      {"y = 1 ## a\nx", false}, {"##\nx", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    source_fixture fixture;
    tl_tokens tokens;
    fixture_open_text(&fixture, cases[i].source);
    assert_true(tl_lex(&tokens, &fixture.arena, &fixture.source, false));
    const tl_token *name = &tokens.items[tokens.count - 2];
    assert_int_equal(name->kind, TL_TOKEN_NAME);
    if (((name->flags & TL_TOKEN_HAS_DOC) != 0) != cases[i].has_doc)
      fail_msg("documentation of %s", cases[i].source);
    tl_tokens_release(&tokens, &fixture.arena);
    fixture_close_source(&fixture);
  }
}

static void malformed_utf8_is_found_at_its_byte(void **state) {
  (void)state;
  static const struct {
    const char *text;
    size_t good;
  } cases[] = {
      {"abc", 3},          {"é速😀", 9},
      {"a\xff", 1},        {"ab\xc3", 2},
      {"\xc0\x80", 0},     {"a\xed\xa0\x80", 1},
      {"\xe0\x80\x80", 0}, {"\xf4\x90\x80\x80", 0},
      {"x\x80", 1},        {"é\xe2\x82", 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    size_t nbytes = strlen(cases[i].text), good = nbytes;
    source_fixture fixture = {.memory = {.until_fails = -1}};
    fixture_open_source(&fixture, cases[i].text, nbytes, &good);
    assert_int_equal(good, cases[i].good);
    fixture_close_source(&fixture);
  }
  source_fixture fixture = {.memory = {.until_fails = -1}};
  size_t bad_offset = 0;
  assert_int_equal(fixture_open_source(&fixture, "x = \xff", 5, &bad_offset),
                   TL_SOURCE_MALFORMED);
  assert_int_equal(bad_offset, 4);
  fixture_close_source(&fixture);
}

static void columns_are_display_cells(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t offset, line, column;
  } cases[] = {
      {"abc", 0, 1, 1},           {"abc", 2, 1, 3},    {"a\nbc", 3, 2, 2},
      {"é=x", 2, 1, 2},           {"速度=x", 6, 1, 5}, {"e\xcc\x81=x", 3, 1, 2},
      {"a\r\nb", 3, 2, 1},        {"a\n", 9, 1, 2},    {"", 0, 1, 1},
      {"\xef\xbb\xbfx", 3, 1, 1}, {"\tx", 1, 1, 2},    {"\x01\x7fx", 2, 1, 3},
      {"ab\n速 xab", 8, 2, 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    source_fixture fixture;
    fixture_open_text(&fixture, cases[i].text);
    tl_place place = tl_source_place(&fixture.source, cases[i].offset);
    assert_int_equal(place.line, cases[i].line);
    assert_int_equal(place.column, cases[i].column);
    fixture_close_source(&fixture);
  }
}

static void equal_names_are_equal_pointers(void **state) {
  (void)state;
  source_fixture fixture;
  fixture_open_text(&fixture, "");
  tl_names *names = &fixture.names;
  const tl_name *composed = tl_names_get_nfc(names, "\xc3\xa9", 2);
  assert_ptr_equal(tl_names_get_nfc(names, "e\xcc\x81", 3), composed);
  assert_ptr_not_equal(tl_names_get(names, "e\xcc\x81", 3), composed);
  assert_string_equal(composed->text, "\xc3\xa9");
  const tl_name *first = tl_names_get(names, "n0", 2);
  for (int i = 0; i < 1000; i++) {
    char text[20];
    int length = snprintf(text, sizeof text, "n%d", i);
    const tl_name *name = tl_names_get(names, text, (size_t)length);
    assert_string_equal(name->text, text);
  }
  assert_ptr_equal(tl_names_get(names, "n0", 2), first);
  fixture_close_source(&fixture);
}

static void numbers_are_read_exactly(void **state) {
  (void)state;
  source_fixture fixture;
  fixture_open_text(&fixture, "");
  static const struct {
    const char *text;
    double value;
  } reals[] = {
      {"2.5", 2.5},
      {"2.5e-3", 2.5e-3},
      {"1_000.5", 1000.5},
      {"0.1", 0.1},
      {"1e22", 1e22},
      {"1e23", 1e23},
      {"0.000001", 0.000001},
      {"1e-400", 0.0},
      {"5e-324", 5e-324},
      {"00.5", 0.5},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"9007199254740993.0", 9007199254740992.0},
      {"9007199254740993.00000000000000000000000000001", 9007199254740994.0},
  };
  for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
    tl_literal number =
        tl_literal_number(&fixture.arena, reals[i].text, strlen(reals[i].text));
    assert_int_equal(number.kind, TL_LITERAL_FLOAT);
    assert_memory_equal(&number.real, &reals[i].value, sizeof(double));
  }
  assert_int_equal(tl_literal_number(&fixture.arena, "0xFf_0", 6).integer,
                   0xff0);
  assert_int_equal(tl_literal_number(&fixture.arena, "1_000", 5).integer, 1000);
  tl_literal largest =
      tl_literal_number(&fixture.arena, "18446744073709551615", 20);
  assert_true(largest.kind == TL_LITERAL_INT && largest.integer == UINT64_MAX);
  assert_int_equal(
      tl_literal_number(&fixture.arena, "18446744073709551616", 20).kind,
      TL_LITERAL_TOO_LARGE);
  assert_int_equal(tl_literal_number(&fixture.arena, "2i", 2).kind,
                   TL_LITERAL_IMAGINARY);
  fixture_close_source(&fixture);
}

// A digit past the 800th still decides a tie.
static void long_decimals_round_right(void **state) {
  (void)state;
  source_fixture fixture;
  fixture_open_text(&fixture, "");
  enum { ZEROS = 2000 };
  char text[ZEROS + 40] = "9007199254740993.";
  size_t length = strlen(text);
  memset(text + length, '0', ZEROS);
  double tie = tl_literal_number(&fixture.arena, text, length + ZEROS).real;
  text[length + ZEROS] = '1';
  double above =
      tl_literal_number(&fixture.arena, text, length + ZEROS + 1).real;
  assert_true(tie < above);
  fixture_close_source(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signs_are_read_longest_first),
      cmocka_unit_test(names_follow_their_categories),
      cmocka_unit_test(a_point_belongs_to_a_number_only_between_digits),
      cmocka_unit_test(strings_nest_through_their_holes),
      cmocka_unit_test(the_innermost_bracket_decides_which_lines_end),
      cmocka_unit_test(an_unmatched_bracket_swallows_no_line),
      cmocka_unit_test(documentation_stands_directly_above),
      cmocka_unit_test(malformed_utf8_is_found_at_its_byte),
      cmocka_unit_test(columns_are_display_cells),
      cmocka_unit_test(equal_names_are_equal_pointers),
      cmocka_unit_test(numbers_are_read_exactly),
      cmocka_unit_test(long_decimals_round_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
