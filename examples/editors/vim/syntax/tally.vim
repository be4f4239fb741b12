" Vim syntax file: Tally. Made by tools/generate/editors.py.
if exists('b:current_syntax')
  finish
endif

syn keyword tallyKeyword fn if else while for break continue return try catch
syn keyword tallyKeyword import as global
syn keyword tallyWordOperator in and or not
syn keyword tallyConstant true false none e inf nan newaxis pi
syn keyword tallyType bool int8 int16 int32 int64 uint8 uint16 uint32
syn keyword tallyType uint64 float16 float32 float64 complex64 complex128
syn keyword tallyType string
syn keyword tallyModule binary fft io json linalg memory os plot random
syn keyword tallyModule stats strings tables time
syn keyword tallyFunction abs acos acosh add add_at all allclose angle any
syn keyword tallyFunction append arange argmax argmin argpartition argsort
syn keyword tallyFunction array_split asarray asin asinh assert astype atan
syn keyword tallyFunction atan2 atanh average beta bin bincount bitwise_and
syn keyword tallyFunction bitwise_invert bitwise_left_shift bitwise_or
syn keyword tallyFunction bitwise_right_shift bitwise_xor both
syn keyword tallyFunction broadcast_arrays broadcast_shapes broadcast_to bytes
syn keyword tallyFunction can_cast cartesian categorical cbrt ceil char choose
syn keyword tallyFunction clip coalesce codepoints columns comb combinations
syn keyword tallyFunction complex compose compress concat conj contained
syn keyword tallyFunction convolve copy copysign corrcoef correlate cos cosh
syn keyword tallyFunction count_nonzero cov cumulative_max cumulative_min
syn keyword tallyFunction cumulative_prod cumulative_sum degrees diag diagonal
syn keyword tallyFunction diff digitize divide divmod drop_missing dtype each
syn keyword tallyFunction einsum either empty empty_like ends_with enumerate
syn keyword tallyFunction equal erf erfc error exp exp10 exp2 expand_dims
syn keyword tallyFunction expm1 eye factorial fill_missing filter find finfo
syn keyword tallyFunction firsts flatten flip float floor floor_divide fmod
syn keyword tallyFunction fold format from_regular full full_like gamma gcd
syn keyword tallyFunction geomspace get gradient greater greater_equal
syn keyword tallyFunction group_by has heatmap heaviside hex hist histogram
syn keyword tallyFunction histogram2d hypot i0 iinfo imag imshow input insert
syn keyword tallyFunction int interp intersect1d is_missing is_ragged isclose
syn keyword tallyFunction isdtype isfinite isin isinf isnan join keys kron lcm
syn keyword tallyFunction leaf_map leaves len lengths less less_equal lexsort
syn keyword tallyFunction lgamma linspace local_index log log10 log1p log2
syn keyword tallyFunction logaddexp logical_and logical_not logical_or
syn keyword tallyFunction logical_xor logspace map_axis matmul
syn keyword tallyFunction matrix_transpose max maximum mean median meshgrid
syn keyword tallyFunction min minimum mode moveaxis multiply nan_to_num
syn keyword tallyFunction nanargmax nanargmin nancumprod nancumsum nanmax
syn keyword tallyFunction nanmean nanmedian nanmin nanpercentile nanprod
syn keyword tallyFunction nanquantile nanstd nansum nanvar nbytes ndim ndindex
syn keyword tallyFunction negative nextafter nonzero not_equal oct ones
syn keyword tallyFunction ones_like outer pack packbits pad pad_rows partition
syn keyword tallyFunction percentile permute_dims plot pointers polyfit
syn keyword tallyFunction polyval pop popcount positive pow print prod ptp put
syn keyword tallyFunction put_along_axis quantile radians ragged
syn keyword tallyFunction ravel_multi_index real reciprocal relayout remainder
syn keyword tallyFunction repeat replace reshape result_type reverse roll
syn keyword tallyFunction roots rot90 round rows run_lengths same scan scatter
syn keyword tallyFunction searchsorted select setdiff1d setxor1d shape show
syn keyword tallyFunction show_decimals sign signbit sin sinc singletons sinh
syn keyword tallyFunction size sliding_windows sort sort_by split sqrt square
syn keyword tallyFunction squeeze stack starts_with std strip subtract sum
syn keyword tallyFunction take take_along_axis tan tanh tensordot tile
syn keyword tallyFunction to_regular topk trace trapezoid tril trim_zeros triu
syn keyword tallyFunction trunc type typeof unflatten union1d unique
syn keyword tallyFunction unique_all unique_counts unique_inverse
syn keyword tallyFunction unique_values unpackbits unravel_index unstack
syn keyword tallyFunction unwrap update update_at values vander var vecdot
syn keyword tallyFunction where zeros zeros_like zip zip_ragged
" by is a word of the language behind a range alone, ahead of an operand.
syn match tallyKeyword "\<by\ze\s\+[-[:alnum:]_(√]"

syn match tallyNumber "\<0x\x\+\>"
syn match tallyNumber
      \ "\<\d\%(_\?\d\)*\%(\.\d\%(_\?\d\)*\)\?\%([eE][-+]\?\d\+\)\?i\?\>"
syn match tallyOperator "[-+*/%@&|^<>=~√²³×÷−·≤≥≠∧∨¬⊻∈∉→∘]"
" The name of a field is no function of the library; .. is a range.
syn match tallyField "\.\K\k*"
syn match tallyOperator "\.\.\.\?"
syn match tallyDefinition "\%(\<fn\s\+\)\@<=\K\k*"

" In a hole # belongs to a format: it may hold all but comments.
syn region tallyHole contained matchgroup=tallyBrace start="{" end="}"
      \ contains=TOP,tallyComment,tallyDoc,tallyPragma
syn match tallyEscape contained "\\[ntr0\\"]\|\\x\x\x\|\\u{\x\+}\|{{\|}}"
syn region tallyString oneline start=+"+ end=+"+
      \ contains=tallyEscape,tallyHole
syn region tallyString start=+"""+ end=+"""+ contains=tallyEscape,tallyHole
syn region tallyString oneline start=+\<r"+ end=+"+
syn region tallyString start=+\<r"""+ end=+"""+
syn region tallyType oneline start=+`+ end=+`+

syn match tallyComment "#.*" contains=tallyTodo,@Spell
syn match tallyDoc "^\s*##\%($\|[^#].*\)" contains=@Spell
syn match tallyPragma "#:.*"
syn keyword tallyTodo contained TODO FIXME XXX

hi def link tallyKeyword Keyword
hi def link tallyWordOperator Operator
hi def link tallyConstant Constant
hi def link tallyType Type
hi def link tallyFunction Function
hi def link tallyModule Include
hi def link tallyNumber Number
hi def link tallyOperator Operator
hi def link tallyDefinition Function
hi def link tallyString String
hi def link tallyEscape SpecialChar
hi def link tallyBrace Delimiter
hi def link tallyComment Comment
hi def link tallyDoc SpecialComment
hi def link tallyPragma PreProc
hi def link tallyTodo Todo

let b:current_syntax = 'tally'
