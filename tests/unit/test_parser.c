// Programs become the trees the grammar gives them, and each habit from
// elsewhere gets its own message at its own place.
#include "tests/unit/ast_text.h"
#include "tests/unit/source_fixture.h"

typedef struct tree_case {
  const char *source;
  const char *tree;  // the statements of the program's block
} tree_case;

static void check_tree(const tree_case *test) {
  source_fixture fixture;
  fixture_open_text(&fixture, test->source);
  tl_ast *program = tl_parse(&fixture.arena, &fixture.names, &fixture.source,
                             &fixture.diagnostics);
  if (!program)
    fail_msg("%s\n  is refused: %s", test->source,
             fixture.diagnostics.items[0].message);
  const char *tree = ast_text(program, &fixture.arena);
  assert_non_null(tree);
  char expected[2000];
  snprintf(expected, sizeof expected, "(block%s%s)", *test->tree ? " " : "",
           test->tree);
  if (strcmp(tree, expected) != 0)
    fail_msg("%s\n  gives    %s\n  expected %s", test->source, tree, expected);
  fixture_close_source(&fixture);
}

#define CHECK_TREES(cases)                                    \
  do {                                                        \
    (void)state;                                              \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) \
      check_tree(&cases[i]);                                  \
  } while (0)

static const tree_case literal_cases[] = {
    {"", ""},
    {"42", "42"},
    {"1_000; 0xff", "1000 255"},
    {"2.5e-3; 1e3", "0.0025 1e+03"},
    {"2i; 2.5i", "2.0i 2.5i"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "(- 9223372036854775808)"},
    {"true; false; none", "true false none"},
    {"\"a\\n\\t\\\"\\\\\"", "\"a\\n\\x09\\\"\\\\\""},
    {"\"\\x41\\u{3c0}\\u{1F600}\"", "\"Aπ😀\""},
    {"\"\\xe9\"", "\"é\""},
    {"\"{{a}}\"", "\"{a}\""},
    {"\"\"\"a \"b\"\nc\"\"\"", "\"a \\\"b\\\"\\nc\""},
    {"\"\"\"a\r\nb\"\"\"", "\"a\\nb\""},
    {"r\"a\\n{b}\"", "\"a\\\\n{b}\""},
    {"\"a{x}b\"", "(format \"a\" x \"b\")"},
    {"\"{x}{y:>5}\"", "(format x (: y \">5\"))"},
    {"\"{x:>{w}.{p:d}f}\"",
     "(format (: x (format \">\" (: w \"!w\") \".\" (: p \"d\") \"f\")))"},
    {"\"{f(\"a\", k: 1)}\"", "(format (call f \"a\" (k: 1)))"},
    {"\"{x => x:a}\"", "(format (: (fn (x) x) \"a\"))"},
    {"`3 * {x: int64}`", "`3 * {x: int64}`"},
    {"π; ∞; π₂", "pi inf π₂"},
    {"x₀ + σ′", "(+ x₀ σ′)"},
};

static void literals(void **state) {
  CHECK_TREES(literal_cases);
}

static const tree_case operator_cases[] = {
    {"a + b * c - d", "(- (+ a (* b c)) d)"},
    {"a - b - c", "(- (- a b) c)"},
    {"a / b // c % d @ e", "(@ (% (// (/ a b) c) d) e)"},
    {"a | b ^ c & d << e + f", "(^ (| a b) (& c (<< d (+ e f))))"},
    {"a << b >> c", "(>> (<< a b) c)"},
    {"a or b and not c", "(or a (and b (not c)))"},
    {"not a == b", "(not (== a b))"},
    {"not not a", "(not (not a))"},
    {"a == b | c", "(== a (| b c))"},
    {"a & b == c", "(== (& a b) c)"},
    {"a < b and c >= d", "(and (< a b) (>= c d))"},
    {"a in b; a not in b; a ∉ b", "(in a b) (not in a b) (not in a b)"},
    {"(a < b) == c", "(== (< a b) c)"},
    {"a..b", "(.. a b)"},
    {"a + 1..b | c", "(.. (+ a 1) (| b c))"},
    {"10..0 by -2", "(.. 10 0 (- 2))"},
    {"0..n == x", "(== (.. 0 n) x)"},
    {"by = 2; 0..by by by", "(= by 2) (.. 0 by by)"},
    {"-x ** 2", "(- (** x 2))"},
    {"-x²", "(- (** x 2))"},
    {"2 ** -1", "(** 2 (- 1))"},
    {"(a + b: 1, (c): 2, d: 3)",
     "(record ((key (+ a b)) 1) ((key c) 2) (d 3))"},
    {"(1: a, -2: b, true: c, (1, 2): d, \"e\": f)",
     "(record ((key 1) a) ((key (- 2)) b) ((key true) c) "
     "((key (list 1 2)) d) (e f))"},
    {"(k: v for k, v in r if v); (\"a\": 1 for x in y); (f(x): x for x in y)",
     "(record-for k v (for (k v) r) (if v)) "
     "(record-for \"a\" 1 (for (x) y)) (record-for (call f x) x (for (x) y))"},
    {"a ** b ** c", "(** a (** b c))"},
    {"x² ** 3", "(** (** x 2) 3)"},
    {"x²³", "(** (** x 2) 3)"},
    {"√x²", "(√ (** x 2))"},
    {"√(x)²", "(√ (** x 2))"},
    {"√x * y", "(* (√ x) y)"},
    {"(√x)²", "(** (√ x) 2)"},
    {"(- -x); --x; -+~√x", "(- (- x)) (- (- x)) (- (+ (~ (√ x))))"},
    {"a--b", "(- a (- b))"},
    {"~a == b", "(== (~ a) b)"},
    {"¬(a == b)", "(~ (== a b))"},
    {"f ∘ g ∘ h", "(∘ (∘ f g) h)"},
    {"a × b ÷ c − d · e", "(- (/ (* a b) c) (@ d e))"},
    {"a ∧ b ∨ c ⊻ d", "(^ (| (& a b) c) d)"},
    {"a = b ** c ∘ d(e)", "(= a (** b (∘ c (call d e))))"},
};

static void operators(void **state) {
  CHECK_TREES(operator_cases);
}

static const tree_case postfix_cases[] = {
    {"f(); f(a,); f(a, b)", "(call f) (call f a) (call f a b)"},
    {"f(...a, k: b, ...c)", "(call f (... a) (k: b) (... c))"},
    {"f(a)(b)", "(call (call f a) b)"},
    {"f (x) [0] .y", "(. (index (call f x) 0) y)"},
    {"m.f(x)", "(call (. m f) x)"},
    {"r.if.in.not", "(. (. (. r if) in) not)"},
    {"1.5.real; x[1].re", "(. 1.5 real) (. (index x 1) re)"},
    {"p.{x, y}; p.{x,}; p . {for}", "(.{} p x y) (.{} p x) (.{} p for)"},
    {"x[i]; x[i, j]; x[-1,]", "(index x i) (index x i j) (index x (- 1))"},
    {"x[:]; x[a:]; x[:b]",
     "(index x (: - -)) (index x (: a -)) "
     "(index x (: - b))"},
    {"x[a:b:c]; x[::-1]; x[::]",
     "(index x (: a b c)) "
     "(index x (: - - (- 1))) (index x (: - -))"},
    {"x[..., 0]; x[...]", "(index x ... 0) (index x ...)"},
    {"x[...i]; x[0, ...(a, b), ..., 1:]",
     "(index x (... i)) (index x 0 (... (list a b)) ... (: 1 -))"},
    {"x[none, :, a..b]", "(index x none (: - -) (: a b))"},
    {"x[(a: 1):(b: 2)]", "(index x (: (record (a 1)) (record (b 2))))"},
    {"x[y[1:2]:z]", "(index x (: (index y (: 1 2)) z))"},
    {"(a + b).c", "(. (+ a b) c)"},
    {"if a { b } (c)", "(call (if (a (block b))) c)"},
};

static void postfixes(void **state) {
  CHECK_TREES(postfix_cases);
}

static const tree_case bracket_cases[] = {
    {"()", "(list)"},
    {"(x)", "x"},
    {"(x,); (x, y); (x, y,)", "(list x) (list x y) (list x y)"},
    {"(:)", "(record)"},
    {"(x: 1, \"a b\": 2,)", "(record (x 1) (\"a b\" 2))"},
    {"(x: y => y, z: 1)", "(record (x (fn (y) y)) (z 1))"},
    {"(+); (-); (**); (in); (and)",
     "(operator +) (operator -) (operator **) (operator in) (operator and)"},
    {"(≤); (×)", "(operator <=) (operator *)"},
    {"fold(x, (+))", "(call fold x (operator +))"},
    {"[]; [1]; [1, 2,]", "(array) (array 1) (array 1 2)"},
    {"[[1, 2], [3]]", "(array (array 1 2) (array 3))"},
    {"[f(i) for i in 0..n]", "(array-for (call f i) (for (i) (.. 0 n)))"},
    {"(v for k, v in r if v > 0 for w in v)",
     "(list-for v (for (k v) r) (if (> v 0)) (for (w) v))"},
    {"(x if c)", "(list-for x (if c))"},
    {"[x for x in a |> f]", "(array-for x (for (x) (pipe f a)))"},
    {"(a\n + b)", "(+ a b)"},
    {"(a\n\n  ,\nb\n)", "(list a b)"},
    {"{}; { }; {\n}", "(block) (block) (block)"},
    {"{ a; b }; {\na\nb\n}", "(block a b) (block a b)"},
    {"f({a\nb}, c)", "(call f (block a b) c)"},
};

static void brackets(void **state) {
  CHECK_TREES(bracket_cases);
}

static const tree_case function_cases[] = {
    {"x => x + 1", "(fn (x) (+ x 1))"},
    {"x => y => x", "(fn (x) (fn (y) x))"},
    {"() => 1; (a) => a; (a, b,) => a", "(fn () 1) (fn (a) a) (fn (a b) a)"},
    {"(a, b = 2, ...c, d: 3) => a", "(fn (a (= b 2) (... c) (: d 3)) a)"},
    {"(x :: `N * int64`) => x", "(fn ((:: x `N * int64`)) x)"},
    {"x → x", "(fn (x) x)"},
    {"x => { a\nb }", "(fn (x) (block a b))"},
    {"x => a |> f", "(fn (x) (pipe f a))"},
    {"f((x) => x, y => y)", "(call f (fn (x) x) (fn (y) y))"},
    {"fn(x) = x; fn (x) { x }", "(fn (x) x) (fn (x) (block x))"},
    {"fn area(w, h = 1) = w * h", "(define (fn area (w (= h 1)) (* w h)))"},
    {"fn f(_, _) { }", "(define (fn f (_ _) (block)))"},
    {"fn f(x :: `int64` = 3) = x", "(define (fn f ((:: (= x 3) `int64`)) x))"},
    {"## one\n## two\nfn f() = 1", "(define (fn f () (doc \"one\\ntwo\") 1))"},
    {"##   a\n##\nfn f() = 1", "(define (fn f () (doc \"  a\\n\") 1))"},
    {"## a\n\nfn f() = 1", "(define (fn f () 1))"},
    {"## a\nx = 1", "(= x (doc \"a\") 1)"},
    {"{\n  ## a\n  fn f() = 1\n}", "(block (define (fn f () (doc \"a\") 1)))"},
};

static void functions(void **state) {
  CHECK_TREES(function_cases);
}

static const tree_case pipe_cases[] = {
    {"x |> f", "(pipe f x)"},
    {"x |> m.f(a)", "(pipe (. m f) x a)"},
    {"x |> f(a)(b)", "(pipe (call f a) x b)"},
    {"x |> fs[0]", "(pipe (index fs 0) x)"},
    {"x |> f ∘ g", "(pipe (∘ f g) x)"},
    {"x |> (y => y + 1)", "(pipe (fn (y) (+ y 1)) x)"},
    {"x |> (f(a))", "(pipe (call f a) x)"},
    {"x |> f() |> g(k: 1)", "(pipe g (pipe f x) (k: 1))"},
    {"a or b |> f", "(pipe f (or a b))"},
    {"y = x\n  |> f\n\n  # why\n  |> g", "(= y (pipe g (pipe f x)))"},
};

static void pipes(void **state) {
  CHECK_TREES(pipe_cases);
}

static const tree_case control_cases[] = {
    {"if a { b }", "(if (a (block b)))"},
    {"if a { b } else { c }", "(if (a (block b)) (else (block c)))"},
    {"if a { b }\nelse if c { d }\n\n# e\nelse { f }",
     "(if (a (block b)) (c (block d)) (else (block f)))"},
    {"x = if a { 1 } else { 2 } + 1",
     "(= x (+ (if (a (block 1)) (else (block 2))) 1))"},
    {"if f(x) { y }", "(if ((call f x) (block y)))"},
    {"while x < 3 { x += 1 }", "(while (< x 3) (block (+= x 1)))"},
    {"for x in xs { break; continue }",
     "(for (x) xs (block (break) (continue)))"},
    {"for k, v in r { k }", "(for (k v) r (block k))"},
    {"for i in 0..n by 2 { i }", "(for (i) (.. 0 n 2) (block i))"},
    {"for a in b { for c in d { e\n} }",
     "(for (a) b (block (for (c) d (block e))))"},
    {"try { a } catch e { b }", "(try (block a) e (block b))"},
    {"try { a }\ncatch { b }", "(try (block a) (block b))"},
    {"fn f() { return }", "(define (fn f () (block (return))))"},
    {"return 1, 2; return x,", "(return (list 1 2)) (return (list x))"},
    {"global a, b", "(global a b)"},
    {"import linalg", "(import linalg)"},
    {"import linalg as l", "(import linalg as l)"},
    {"import \"lib/geo.tly\" as geo", "(import \"lib/geo.tly\" as geo)"},
    {"import \"check.tly\" (F, C,)", "(import \"check.tly\" (F C))"},
    {";;a;\n;b;", "a b"},
};

static void control(void **state) {
  CHECK_TREES(control_cases);
}

static const tree_case assign_cases[] = {
    {"x = 1", "(= x 1)"},
    {"x =\n 1", "(= x 1)"},
    {"a, b = b, a", "(= (list a b) (list b a))"},
    {"(a, b) = p", "(= (list a b) p)"},
    {"a, = p", "(= (list a) p)"},
    {"_, (b, c[0]) = p", "(= (list _ (list b (place c [0]))) p)"},
    {"x = 1,", "(= x (list 1))"},
    {"x = 1, 2", "(= x (list 1 2))"},
    {"x[i, :] = v", "(= (place x [i (: - -)]) v)"},
    {"r.a[3].b = v", "(= (place r .a [3] .b) v)"},
    {"x[m][0] = 1", "(= (place x [m] [0]) 1)"},
    {"r.if = 1", "(= (place r .if) 1)"},
    {"x[i], x[j] = x[j], x[i]",
     "(= (list (place x [i]) (place x [j])) (list (index x j) (index x i)))"},
    {"x += 1; x **= 2; x //= 3", "(+= x 1) (**= x 2) (//= x 3)"},
    {"x[m] -= y => y", "(-= (place x [m]) (fn (y) y))"},
    {"x ×= 2; x ∨= y", "(*= x 2) (|= x y)"},
};

static void assignments(void **state) {
  CHECK_TREES(assign_cases);
}

// Each error as "line:column", a blank and a part of its message.
typedef struct error_case {
  const char *source;
  const char *errors[4];
} error_case;

static void check_error(const char *source, const char *expected,
                        const tl_diagnostic *diagnostic, tl_source *lines) {
  tl_place place = tl_source_place(lines, diagnostic->span.at);
  char where[40];
  int length =
      snprintf(where, sizeof where, "%u:%u ", place.line, place.column);
  if (strncmp(where, expected, (size_t)length) != 0 ||
      !strstr(diagnostic->message, expected + length))
    fail_msg("%s\n  gives    %s%s\n  expected %s", source, where,
             diagnostic->message, expected);
}

static void check_errors(const error_case *test) {
  source_fixture fixture;
  fixture_open_text(&fixture, test->source);
  tl_diagnostics *found = &fixture.diagnostics;
  tl_ast *program =
      tl_parse(&fixture.arena, &fixture.names, &fixture.source, found);
  if (program)
    fail_msg("%s\n  is accepted: %s", test->source,
             ast_text(program, &fixture.arena));
  uint32_t count = 0;
  for (; count < 4 && test->errors[count]; count++) {
    if (count >= found->count)
      fail_msg("%s\n  lacks %s", test->source, test->errors[count]);
    check_error(test->source, test->errors[count], &found->items[count],
                &fixture.source);
  }
  if (found->count != count)
    fail_msg("%s\n  gives a further error: %s", test->source,
             found->items[count].message);
  fixture_close_source(&fixture);
}

#define CHECK_ERRORS(cases)                                   \
  do {                                                        \
    (void)state;                                              \
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) \
      check_errors(&cases[i]);                                \
  } while (0)

// The habits that the language's page lists, each with the form proposed.
static const error_case hint_cases[] = {
    {"f(x, axis=0)", {"1:10 write axis: 0"}},
    {"f(axis = none)", {"1:8 write axis: none"}},
    {"0 <= i < n", {"1:8 write 0 <= i and i < n"}},
    {"a == b == c", {"1:8 write a == b and b == c"}},
    {"a < b not in c", {"1:7 a < b and b not in c"}},
    {"a > 0 & b > 0", {"1:7 write (a > 0) & (b > 0)"}},
    {"a > 0 ∨ b > 0", {"1:7 write (a > 0) | (b > 0)"}},
    {"¬ a == b", {"1:1 write not a == b, or ¬(a == b)"}},
    {"{x: 1}", {"1:1 write (x: …)"}},
    {"y = {\"a\": 1, \"b\": 2}", {"1:5 write (\"a\": …)"}},
    {"y = {\n  x: 1,\n  y: 2\n}\nz = )",
     {"1:5 write (x: …)", "5:5 closes nothing"}},
    {"2.", {"1:2 write 2.0"}},
    {"x = 2. * y", {"1:6 write 2.0"}},
    {"2.e5", {"1:2 write 2.0e5"}},
    {".5", {"1:1 write 0.5"}},
    {"f(.5)", {"1:3 write 0.5"}},
    {"2x", {"1:2 2 * x"}},
    {"2(x + 1)", {"1:2 2 * (…)"}},
    {"2π", {"1:2 2 * π"}},
    {"2j", {"1:2 write 2i"}},
    {"1__0", {"1:2 between two digits"}},
    {"1e", {"1:2 an exponent needs digits"}},
    {"0xg", {"1:2 as in 0xff"}},
    {"0b1", {"1:2 as in 0xff"}},
    {"a = b = 0", {"1:7 write two"}},
    {"if x = 1 { y }", {"1:6 `==` compares"}},
    {"while x = 1 { y }", {"1:9 `==` compares"}},
    {"f((x = 1))", {"1:6 (x: …)"}},
    {"a\n+ b", {"2:1 end that line with `+`"}},
    {"a\n  * b", {"2:3 end that line with `*`"}},
    {"a\nand b", {"2:1 end that line with `and`"}},
    {"a\n- b", {"2:1 end that line with `-`"}},
    {"a\n+b", {"2:1 end that line with `+`"}},
    {"a\n.b", {"2:1 end that line with `.`"}},
    {"x = 1\n// note", {"2:1 a comment begins with #"}},
    {"- x", {"1:1 cannot begin with `-`"}},
    {"a && b", {"1:3 write `and`"}},
    {"a || b", {"1:3 write `or`"}},
    {"!x", {"1:1 write `not x`"}},
    {"x++", {"1:2 write x += 1"}},
    {"x--\ny", {"1:2 write x -= 1"}},
    {"a === b", {"1:3 there is no `===`"}},
    {"a ~= b", {"1:3 is written `!=`"}},
    {"a <> b", {"1:3 is written `!=`"}},
    {"a =< b", {"1:3 is written `<=`"}},
    {"x -> y", {"1:3 is written `=>`"}},
    {"x := 1", {"1:3 is written `=`"}},
    {"x ? a : b", {"1:3 if c { a } else { b }"}},
    {"(a if c else b)", {"1:9 if c { a } else { b }"}},
    {"elif x { y }", {"1:6 `else if`"}},
    {"if a { } elif b { }", {"1:10 `else if`"}},
    {"def f(x) { y }", {"1:5 fn name(x)"}},
    {"f(x) { y }", {"1:6 fn name(x)"}},
    {"f(x) = y", {"1:1 fn f(x) = e"}},
    {"let x = 1", {"1:5 name = value"}},
    {"var x = 1", {"1:5 name = value"}},
    {"lambda x: x", {"1:8 x => e"}},
    {"print x", {"1:7 print(x)"}},
    {"from a import b", {"1:6 import \"file.tly\" (a, b)"}},
    {"f\"{x}\"", {"1:2 without a prefix"}},
    {"'a'", {"1:1 double quotes"}},
    {"x: int = 3", {"1:2 no declared type"}},
    {"if x:\n  y", {"1:5 a block stands in braces"}},
    {"if x then y", {"1:6 a block stands in braces"}},
    {"for (x in xs) { }", {"1:5 takes no parentheses"}},
    {"for (i = 0; i < n; i++) { }", {"1:5 takes no parentheses"}},
    {"for i = 0 { }", {"1:7 for i in 0..n"}},
    {"x⁴", {"1:2 x ** 4"}},
    {"a \\\n + b", {"1:3 leave out the backslash", "2:2 cannot begin"}},
};

static void habits_get_a_message_of_their_own(void **state) {
  CHECK_ERRORS(hint_cases);
}

static const error_case rule_cases[] = {
    {"(f\n(x))", {"2:1 `(` does not go on with the line above"}},
    {"[a\n[1]]", {"2:1 `[` does not go on with the line above"}},
    {"a b", {"1:3 expected an operator"}},
    {"{ a } { b }", {"1:7 a block cannot follow an expression"}},
    {"(not)", {"1:2 does not stand for a function"}},
    {"1 + x => x", {"1:5 stands in parentheses"}},
    {"1 + (a, b) => a", {"1:5 stands in parentheses"}},
    {"x |> y => y", {"1:6 stands in parentheses"}},
    {"f(x) => x", {"1:6 a name or a list of parameters"}},
    {"(a, b: 1)", {"1:6 expected `,` or `)` (of the `(` at 1:1), found `:`"}},
    {"(...a: 1)", {"1:6 expected `,` or `)` (of the `(` at 1:1), found `:`"}},
    {"(a: 1, b: 2 for x in y)", {"1:13 one entry before `for`"}},
    {"(if: 1)", {"1:2 as a key it is written \"if\""}},
    {"(x: 1, 2)", {"1:9 `:` after a record's key"}},
    {"(...x for x in y)", {"1:2 a comprehension makes one item in each turn"}},
    {"(a, b for x in y)", {"1:7 one item before `for`"}},
    {"f(x for x in y)", {"1:5 brackets of its own"}},
    {"f(if: 1)", {"1:3 is a keyword"}},
    {"f(x :: `int64`)", {"1:6 belongs to a parameter"}},
    {"[1:2]", {"1:3 slices in an index"}},
    {"x[]", {"1:3 an index is missing"}},
    {"x[a:b:c:d]", {"1:8 expected `,` or `]`"}},
    {"x[... a: b]", {"1:8 expected `,` or `]`"}},
    {"x.5", {"1:3 a field's name"}},
    {"x.{a, 1}", {"1:7 a field's name"}},
    {"a..b..c", {"1:5 a..b by s"}},
    {"x[a..]", {"1:6 a range has two ends"}},
    {"..b", {"1:1 cannot begin with `..`"}},
    {"a not b", {"1:3 followed by `in`"}},
    {"1 + not x", {"1:5 stands in parentheses, (not x)"}},
    {"a by b", {"1:3 expected an operator"}},
    {"-9223372036854775809", {"1:2 does not fit int64"}},
    {"-(0xffff_ffff_ffff_ffff)", {"1:3 does not fit int64"}},
    {"0x1_0000_0000_0000_0000", {"1:1 does not fit uint64"}},
    {"1 = x", {"1:1 a constant is no target"}},
    {"a + b = c", {"1:3 `==` compares"}},
    {"f(x)[0] = 1", {"1:1 a call is no target"}},
    {"[a, b] = p", {"1:1 a, b = p"}},
    {"p.{x} = 1", {"1:2 one field at a time"}},
    {"a, b += 1", {"1:6 one target"}},
    {"() = p", {"1:1 left of `=`"}},
    {"if = 1", {"1:1 is a keyword"}},
    {"true = 1", {"1:1 is a keyword"}},
    {"fn if(x) = 1", {"1:4 is a keyword"}},
    {"for in in x { }", {"1:5 is a keyword"}},
    {"fn f(a, a) = 1", {"1:9 two parameters are called `a`"}},
    {"fn f(a = 1, b) = 1", {"1:13 in this order"}},
    {"fn f(...a, ...b) = 1", {"1:15 in this order"}},
    {"fn f(a: 1, ...b) = 1", {"1:15 in this order"}},
    {"fn f(x) => x", {"1:9 goes on with `= e`"}},
    {"x = fn f(y) = y", {"1:8 has no name"}},
    {"fn f(x :: y) = x", {"1:11 after `::`"}},
    {"import \"a.tly\"", {"1:8 needs a name"}},
    {"import \"{a}\" as b", {"1:8 has no holes"}},
    {"import a.b", {"1:9 imported whole"}},
    {"import a, b", {"1:9 imported whole"}},
    {"global x = 1", {"1:10 only names variables"}},
    {"x = return 1", {"1:5 this is a statement"}},
    {"else { }", {"1:1 after the } of its `if`"}},
    {"a }", {"1:3 closes nothing"}},
    {"try { a }", {"1:10 expected `catch`"}},
    {"if a", {"1:5 expected a block"}},
    {"x =", {"1:4 expected an expression, found the end of the text"}},
    {"f(a,, b)", {"1:5 expected an expression, found `,`"}},
    {"f(a; b)", {"1:4 cannot stand within the `(` of 1:2"}},
};

static void rules_are_kept(void **state) {
  CHECK_ERRORS(rule_cases);
}

static const error_case text_cases[] = {
    {"x = (1\ny = 2", {"1:5 this `(` is never closed"}},
    {"f(\"abc)\ny = $",
     {"1:3 does not end on its line", "2:5 there is no `$`"}},
    {"f([\"{x\"], 3)\ny = $", {"1:5 this hole is not closed", "2:5 no `$`"}},
    {"f(\"{x:.2f\")\ny = $", {"1:4 this hole is not closed", "2:5 no `$`"}},
    {"f(\"{x:{w}\")", {"1:4 this hole is not closed"}},
    {"x = [1, 2)\ny",
     {"1:10 `)` does not close the `[` that stands open at "
      "1:5"}},
    {"f(a[1)\ny = )", {"1:4 this `[` is never closed", "2:5 closes nothing"}},
    {"fn f() {\n  if a {\n    b\n}\n", {"1:8 unless the one at 2:8 lacks"}},
    {"if a {\n  b", {"1:6 this `{` is never closed"}},
    {"x = \"abc\ny = \"d",
     {"1:5 does not end on its line", "2:5 does not end on its line"}},
    {"x = \"a{b} c\ny", {"1:5 does not end on its line"}},
    // The error's token begins before those of the hole, and no line ends.
    {"x = \"a{b} c", {"1:5 does not end on its line"}},
    {"x = \"a{b c\ny", {"1:7 this hole is not closed"}},
    {"x = \"\"\"a\nb", {"1:5 it lacks \"\"\""}},
    {"x = `int64\ny", {"1:5 it lacks a `"}},
    {"\"a{}b\"", {"1:3 a hole is empty"}},
    {"\"a}b\"", {"1:3 }}"}},
    {"\"{x:{{y}}}\"", {"1:4 holds neither {{"}},
    {"\"{x:{}}\"", {"1:5 a hole is empty"}},
    {"\"{:{y}}\"", {"1:3 expected an expression, found `:`"}},
    {"\"{x + :{y}}\"", {"1:7 expected an expression, found `:`"}},
    {"\"{\"a\": {y}}\"", {"1:2 braces as text are written {{ }}"}},
    {"\"{\"a\":{\"b\":1}}\"", {"1:2 braces as text are written {{ }}"}},
    {"\"{x:>{y\"", {"1:2 this hole is not closed"}},
    {"\"é\\q\"", {"1:3 no such escape"}},
    {"\"\\x4\"", {"1:2 two hexadecimal digits"}},
    {"\"\\u{}\"", {"1:2 in braces"}},
    {"\"\\u{d800}\"", {"1:2 no character has this number"}},
    {"速 = $", {"1:6 there is no `$`"}},
    {"a §", {"1:3 `§` (U+00A7)"}},
};

static void unfinished_texts_say_where_they_begin(void **state) {
  CHECK_ERRORS(text_cases);
}

// One error each, and none of what follows from it.
static const error_case recovery_cases[] = {
    {"x = 1 +* 2\ny = = 1\nz = 2\nw = 2 3",
     {"1:8 found `*`", "2:5 `==` compares", "4:7 found the number 3"}},
    {"a = 1 +* 2; b = 3 */ 4\nc = (1 2)",
     {"1:8 found `*`", "1:20 found `/`", "2:8 found the number 2"}},
    {"fn f(x) {\n  y = 1 1\n  z = 2\n  w = 3 3\n}\nv = 4 4",
     {"2:9 found the number 1", "4:9 found the number 3",
      "6:7 found the number 4"}},
    {"if x = 1 {\n  y = 2 2\n} else {\n  z\n}\nw = )",
     {"1:6 `==` compares", "2:9 found the number 2", "6:5 closes nothing"}},
    {"f(1 2, {\n  a b\n})\nc d",
     {"1:5 found the number 2", "2:5 found the name `b`",
      "4:3 found the name `d`"}},
    {"p.{x, 1}\ny = 2", {"1:7 a field's name"}},
    {"x = (1, 2]\ny = [3, 4)",
     {"1:10 `]` does not close", "2:10 `)` does not close"}},
};

static void one_cause_makes_one_error(void **state) {
  CHECK_ERRORS(recovery_cases);
}

static void a_run_reports_twenty(void **state) {
  (void)state;
  char text[400] = "";
  for (int i = 0; i < 50; i++) strcat(text, "a b\n");
  source_fixture fixture;
  fixture_open_text(&fixture, text);
  assert_null(tl_parse(&fixture.arena, &fixture.names, &fixture.source,
                       &fixture.diagnostics));
  assert_int_equal(fixture.diagnostics.count, 20);
  fixture_close_source(&fixture);
}

static void the_prompt_knows_what_is_complete(void **state) {
  (void)state;
  static const struct {
    const char *source;
    tl_parse_status status;
  } cases[] = {
      {"", TL_PARSE_COMPLETE},
      {"x = 1", TL_PARSE_COMPLETE},
      {"if a { b }", TL_PARSE_COMPLETE},
      {"fn f(x) {", TL_PARSE_INCOMPLETE},
      {"fn f(x) {\n  y", TL_PARSE_INCOMPLETE},
      {"fn f(x) {\n  y\n}", TL_PARSE_COMPLETE},
      {"f(a,", TL_PARSE_INCOMPLETE},
      {"[1, 2", TL_PARSE_INCOMPLETE},
      {"(a, b = 1,", TL_PARSE_INCOMPLETE},
      {"\"\"\"abc", TL_PARSE_INCOMPLETE},
      {"\"\"\"abc {x", TL_PARSE_INCOMPLETE},
      {"\"abc", TL_PARSE_ERROR},
      {"a +", TL_PARSE_INCOMPLETE},
      {"a +\n", TL_PARSE_INCOMPLETE},
      {"a =", TL_PARSE_INCOMPLETE},
      {"x =>", TL_PARSE_INCOMPLETE},
      {"#:inplace", TL_PARSE_INCOMPLETE},
      {"y = 1\n  #:inplace\n", TL_PARSE_INCOMPLETE},
      {"#:inplace\nx = x + 1", TL_PARSE_COMPLETE},
      {"#:peak 2 * x.nbytes\n", TL_PARSE_INCOMPLETE},
      {"#:peak 8\nx = x + 1", TL_PARSE_COMPLETE},
      {"a |>", TL_PARSE_INCOMPLETE},
      {"not", TL_PARSE_INCOMPLETE},
      {"while x", TL_PARSE_ERROR},
      {"a b", TL_PARSE_ERROR},
      {"a b +", TL_PARSE_ERROR},
      {"a)", TL_PARSE_ERROR},
      {"(a $", TL_PARSE_ERROR},
      {"x = [1)", TL_PARSE_ERROR},
      {"\xff", TL_PARSE_ERROR},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture_memory memory = {.until_fails = -1};
    tl_parse_status status = tl_parser_check(
        fixture_resize, &memory, cases[i].source, strlen(cases[i].source));
    if (status != cases[i].status)
      fail_msg("%s: status %d", cases[i].source, (int)status);
    assert_int_equal(memory.live, 0);
  }
}

// [count] times [open], then [middle], then [count] times [close].
static char *repeat(const char *open, const char *middle, const char *close,
                    size_t count) {
  size_t ahead = strlen(open), behind = strlen(close);
  char *text = malloc(count * (ahead + behind) + strlen(middle) + 1);
  assert_non_null(text);
  char *at = text;
  for (size_t i = 0; i < count; i++, at += ahead) memcpy(at, open, ahead);
  memcpy(at, middle, strlen(middle));
  at += strlen(middle);
  for (size_t i = 0; i < count; i++, at += behind) memcpy(at, close, behind);
  *at = 0;
  return text;
}

// Parses; one error if [is_deep], else none.
static void check_depth(const char *open, const char *middle, const char *close,
                        size_t count, bool is_deep) {
  char *text = repeat(open, middle, close, count);
  source_fixture fixture;
  fixture_open_text(&fixture, text);
  tl_ast *program = tl_parse(&fixture.arena, &fixture.names, &fixture.source,
                             &fixture.diagnostics);
  if (fixture.diagnostics.count != (is_deep ? 1 : 0))
    fail_msg("%zu times %s: %u errors", count, open, fixture.diagnostics.count);
  if (program)
    assert_non_null(ast_text(program, &fixture.arena));
  fixture_close_source(&fixture);
  free(text);
}

static void depth_is_bounded_and_the_message_says_so(void **state) {
  (void)state;
  static const struct {
    const char *open, *middle, *close;
  } cases[] = {
      {"(", "1", ")"},        {"[", "1", "]"},       {"f(", "1", ")"},
      {"{", "1", "}"},        {"-", "x", ""},        {"not ", "x", ""},
      {"x => ", "x", ""},     {"2 ** ", "2", ""},    {"if a {", "b", "}"},
      {"\"{", "x", "}\""},    {"fn(x) = ", "x", ""}, {"", "x", ".a"},
      {"", "x", "[0]"},       {"", "x", " + 1"},     {"", "x", "²"},
      {"", "x", " |> f"},     {"", "f", " ∘ g"},     {"", "x", "(1)"},
      {"fn f() {", "1", "}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_depth(cases[i].open, cases[i].middle, cases[i].close, 70, false);
    check_depth(cases[i].open, cases[i].middle, cases[i].close, 100000, true);
  }
  check_depth("if a { } else ", "{ }", "", 100000, false);
  check_depth("a; ", "b", "", 100000, false);
}

// A long line takes time in proportion: a quadratic parser needs minutes.
static void a_long_line_is_read_in_linear_time(void **state) {
  (void)state;
  check_depth("x = [", "1", ", 1", 1, true);
  char *items = repeat("12, ", "3", "", 500000);
  char *text = malloc(strlen(items) + 10);
  assert_non_null(text);
  sprintf(text, "x = [%s]", items);
  source_fixture fixture;
  fixture_open_text(&fixture, text);
  assert_non_null(tl_parse(&fixture.arena, &fixture.names, &fixture.source,
                           &fixture.diagnostics));
  fixture_close_source(&fixture);
  free(text);
  free(items);
}

// Every allocation fails once: no crash, nothing left, and no tree.
static void memory_may_fail_anywhere(void **state) {
  (void)state;
  static const char text[] =
      "## doc\nfn f(a, b = 2, ...c, d: 3) { x[0].y = \"a{b:c}\" }\n"
      "é = (x: 1, y: [i for i in 0..3 if i], z: `int64`)\n"
      "for k, v in é { try { k |> f(v, k: 1) } catch e { p.{x, y} } }\n"
      "import \"a\" (b, c); if a { b } else { c }; a = (b 1)\n";
  bool is_done = false;
  for (long i = 0; !is_done; i++) {
    source_fixture fixture = {.memory = {.until_fails = i}};
    size_t bad_offset = 0;
    if (fixture_open_source(&fixture, text, strlen(text), &bad_offset) ==
        TL_SOURCE_OK) {
      assert_null(tl_parse(&fixture.arena, &fixture.names, &fixture.source,
                           &fixture.diagnostics));
      is_done = !fixture.arena.failed;
    }
    fixture_close_source(&fixture);
    fixture_memory memory = {.until_fails = i};
    tl_parse_status status =
        tl_parser_check(fixture_resize, &memory, text, strlen(text));
    assert_true(status == TL_PARSE_NO_MEMORY || status == TL_PARSE_ERROR);
    assert_int_equal(memory.live, 0);
  }
}

// Spans are what messages point at: the whole, and the operator.
static void spans_cover_the_expression(void **state) {
  (void)state;
  static const struct {
    const char *source;
    tl_span span;
  } cases[] = {
      {"a + b", {0, 5, 2}},       {" n + g[:, 0]", {1, 12, 3}},
      {"(a) * (b)", {0, 9, 4}},   {"m.f(x)", {0, 6, 2}},
      {"x |> f(y)", {0, 9, 5}},   {"x[0]", {0, 4, 1}},
      {"-x²", {0, 4, 0}},         {"a.b", {0, 3, 2}},
      {"f(\n)", {0, 4, 0}},       {"a..b by c", {0, 9, 1}},
      {"if a { b }", {0, 10, 0}}, {"x = 1", {0, 5, 2}},
      {"(a + b)", {0, 7, 3}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    source_fixture fixture;
    fixture_open_text(&fixture, cases[i].source);
    tl_ast *program = tl_parse(&fixture.arena, &fixture.names, &fixture.source,
                               &fixture.diagnostics);
    assert_non_null(program);
    tl_span span = program->items.items[0]->span;
    if (memcmp(&span, &cases[i].span, sizeof span) != 0)
      fail_msg("%s: %u to %u at %u", cases[i].source, span.begin, span.end,
               span.at);
    fixture_close_source(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(literals),
      cmocka_unit_test(operators),
      cmocka_unit_test(postfixes),
      cmocka_unit_test(brackets),
      cmocka_unit_test(functions),
      cmocka_unit_test(pipes),
      cmocka_unit_test(control),
      cmocka_unit_test(assignments),
      cmocka_unit_test(habits_get_a_message_of_their_own),
      cmocka_unit_test(rules_are_kept),
      cmocka_unit_test(unfinished_texts_say_where_they_begin),
      cmocka_unit_test(one_cause_makes_one_error),
      cmocka_unit_test(a_run_reports_twenty),
      cmocka_unit_test(the_prompt_knows_what_is_complete),
      cmocka_unit_test(depth_is_bounded_and_the_message_says_so),
      cmocka_unit_test(a_long_line_is_read_in_linear_time),
      cmocka_unit_test(memory_may_fail_anywhere),
      cmocka_unit_test(spans_cover_the_expression),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
