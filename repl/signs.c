// The table of signs that a prompt takes by name: \alpha and Tab make α. The
// names are LaTeX's where it has one; a new sign is one more row.
#include "repl/signs.h"

#include <stddef.h>

// Every sign that the language has a meaning for, Greek letters, what stands
// beside a letter, and some of what texts have.
const tl_sign tl_signs[] = {
    {"times", "×"},      {"div", "÷"},          {"minus", "−"},
    {"cdot", "·"},       {"circ", "∘"},         {"to", "→"},
    {"le", "≤"},         {"leq", "≤"},          {"ge", "≥"},
    {"geq", "≥"},        {"ne", "≠"},           {"neq", "≠"},
    {"land", "∧"},       {"wedge", "∧"},        {"lor", "∨"},
    {"vee", "∨"},        {"neg", "¬"},          {"lnot", "¬"},
    {"xor", "⊻"},        {"veebar", "⊻"},       {"sqrt", "√"},
    {"in", "∈"},         {"notin", "∉"},        {"infty", "∞"},
    {"^2", "²"},         {"^3", "³"},

    {"alpha", "α"},      {"beta", "β"},         {"gamma", "γ"},
    {"delta", "δ"},      {"epsilon", "ϵ"},      {"varepsilon", "ε"},
    {"zeta", "ζ"},       {"eta", "η"},          {"theta", "θ"},
    {"vartheta", "ϑ"},   {"iota", "ι"},         {"kappa", "κ"},
    {"lambda", "λ"},     {"mu", "μ"},           {"nu", "ν"},
    {"xi", "ξ"},         {"pi", "π"},           {"rho", "ρ"},
    {"sigma", "σ"},      {"tau", "τ"},          {"upsilon", "υ"},
    {"phi", "ϕ"},        {"varphi", "φ"},       {"chi", "χ"},
    {"psi", "ψ"},        {"omega", "ω"},        {"Gamma", "Γ"},
    {"Delta", "Δ"},      {"Theta", "Θ"},        {"Lambda", "Λ"},
    {"Xi", "Ξ"},         {"Pi", "Π"},           {"Sigma", "Σ"},
    {"Phi", "Φ"},        {"Psi", "Ψ"},          {"Omega", "Ω"},

    {"_0", "₀"},         {"_1", "₁"},           {"_2", "₂"},
    {"_3", "₃"},         {"_4", "₄"},           {"_5", "₅"},
    {"_6", "₆"},         {"_7", "₇"},           {"_8", "₈"},
    {"_9", "₉"},         {"prime", "′"},        {"hat", "\xcc\x82"},
    {"bar", "\xcc\x84"}, {"tilde", "\xcc\x83"}, {"dot", "\xcc\x87"},
    {"degree", "°"},     {"pm", "±"},           {"approx", "≈"},
    {"equiv", "≡"},      {"propto", "∝"},       {"partial", "∂"},
    {"nabla", "∇"},      {"sum", "∑"},          {"prod", "∏"},
    {"int", "∫"},        {"cup", "∪"},          {"cap", "∩"},
    {"subset", "⊂"},     {"forall", "∀"},       {"exists", "∃"},
    {"emptyset", "∅"},   {"ell", "ℓ"},          {"hbar", "ℏ"},
    {"leftarrow", "←"},  {"rightarrow", "→"},   {"uparrow", "↑"},
    {"downarrow", "↓"},  {"ldots", "…"},        {"bullet", "•"},
    {"euro", "€"},       {"AA", "Å"},

    {":smile:", "😄"},    {":heart:", "❤️"}, {":rocket:", "🚀"},
    {":star:", "⭐"},     {":fire:", "🔥"},       {":bug:", "🐛"},
    {":check:", "✅"},    {":x:", "❌"},          {":warning:", "⚠️"},
    {":sun:", "☀️"}, {":snow:", "❄️"},  {":tada:", "🎉"},
    {":thumbsup:", "👍"}, {":eyes:", "👀"},       {":bulb:", "💡"},
    {NULL, NULL},
};
