// Live bytes over time, drawn: the large blocks as bands on top of everything
// else, so that the upper edge is what was alive.
#include "stdlib/memory_plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 640, SHOWN = 64, LINES = 12 };

// What both forms are drawn from: the timeline cut into columns.
typedef struct plot {
  const tl_timeline *t;
  int columns;
  double end;                   // seconds
  uint64_t high[COLUMNS];       // the most that was alive in each column
  const tl_band *shown[SHOWN];  // by birth
  int shown_count;
  int group[SHOWN];  // bands born in one line have one colour
  int group_count;
  uint64_t rest[COLUMNS];   // below the bands
  uint64_t alive[COLUMNS];  // which of them are in each column: a bit for each
} plot;

void tl_spell_bytes(uint64_t nbytes, char out[TL_SPELLED]) {
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  double value = (double)nbytes;
  int unit = 0;
  for (; value >= 999.5 && unit < 5; unit++) value /= 1000;
  int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  snprintf(out, TL_SPELLED, "%.*f %s", decimals, value, units[unit]);
}

static void spell_time(double seconds, char out[TL_SPELLED]) {
  const char *unit = seconds >= 1 ? "s" : seconds >= 1e-3 ? "ms" : "µs";
  double value =
      seconds >= 1 ? seconds : seconds * (seconds >= 1e-3 ? 1e3 : 1e6);
  snprintf(out, TL_SPELLED, "%.3g %s", value, unit);
}

// --- Columns ----------------------------------------------------------------

static double column_time(const plot *p, double column) {
  return p->end * column / p->columns;
}

static uint64_t highest(const tl_timeline *t, double from, double to) {
  uint32_t first = (uint32_t)(from / t->width);
  uint32_t last = (uint32_t)(to / t->width);
  uint64_t high = 0;
  if (first >= t->sample_count)
    first = t->sample_count - 1;
  for (uint32_t i = first; i <= last && i < t->sample_count; i++)
    if (t->samples[i].high > high)
      high = t->samples[i].high;
  return high;
}

static double area(const tl_band *b) {
  return (double)b->nbytes * (b->died - b->born);
}

static int by_area(const void *a, const void *b) {
  double x = area(*(const tl_band *const *)a);
  double y = area(*(const tl_band *const *)b);
  return (x < y) - (x > y);
}

static int by_birth(const void *a, const void *b) {
  double x = (*(const tl_band *const *)a)->born;
  double y = (*(const tl_band *const *)b)->born;
  return (x > y) - (x < y);
}

static bool same_line(const tl_band *a, const tl_band *b) {
  return a->line == b->line && a->file == b->file;
}

// Keeps the bands of the first lines: the others have no colour left.
static int limit_lines(const tl_band **all, int count) {
  const tl_band *lines[LINES];
  int line_count = 0, kept = 0;
  for (int i = 0; i < count && kept < SHOWN; i++) {
    int k = 0;
    while (k < line_count && !same_line(lines[k], all[i])) k++;
    if (k == LINES)
      continue;
    if (k == line_count)
      lines[line_count++] = all[i];
    all[kept++] = all[i];
  }
  return kept;
}

static void find_groups(plot *p) {
  for (int k = 0; k < p->shown_count; k++) {
    int first = 0;
    while (!same_line(p->shown[first], p->shown[k])) first++;
    p->group[k] = first == k ? p->group_count++ : p->group[first];
  }
}

// Smaller blocks have no bands.
static uint64_t least_band(const tl_timeline *t) {
  return t->peak / 200;
}

// The bands that show most, and at least a column long.
static void choose_bands(plot *p) {
  const tl_timeline *t = p->t;
  const tl_band *all[TL_BANDS];
  int count = 0;
  for (uint32_t i = 0; i < t->band_count; i++) {
    const tl_band *b = &t->bands[i];
    if (b->line > 0 && b->died - b->born >= p->end / p->columns &&
        b->nbytes >= least_band(t))
      all[count++] = b;
  }
  qsort(all, (size_t)count, sizeof *all, by_area);
  p->shown_count = limit_lines(all, count);
  memcpy(p->shown, all, (size_t)p->shown_count * sizeof *all);
  qsort(p->shown, (size_t)p->shown_count, sizeof *all, by_birth);
  find_groups(p);
}

// How long the band lives within a column.
static double overlap(const plot *p, const tl_band *b, int column) {
  double from = column_time(p, column), to = column_time(p, column + 1);
  if (b->born > from)
    from = b->born;
  if (b->died < to)
    to = b->died;
  return to - from;
}

static bool is_alive(const plot *p, int k, int column) {
  return (p->alive[column] >> k & 1) != 0;
}

// The bands in a column: together no more than was alive at once. Where one
// dies and the next is born, the one that lives there longer stands for both.
static void find_alive(plot *p, int column) {
  uint64_t sum = 0;
  for (int k = 0; k < p->shown_count; k++) {
    if (overlap(p, p->shown[k], column) <= 0)
      continue;
    p->alive[column] |= UINT64_C(1) << k;
    sum += p->shown[k]->nbytes;
  }
  while (sum > p->high[column]) {
    int least = -1;
    for (int k = 0; k < p->shown_count; k++)
      if (is_alive(p, k, column) &&
          (least < 0 || overlap(p, p->shown[k], column) <
                            overlap(p, p->shown[least], column)))
        least = k;
    p->alive[column] &= ~(UINT64_C(1) << least);
    sum -= p->shown[least]->nbytes;
  }
}

// What the bands stand on: everything else. What is higher in a column or two
// alone would only make them jump, and is drawn above them.
static void find_rest(plot *p) {
  uint64_t rest[COLUMNS];
  for (int i = 0; i < p->columns; i++) {
    uint64_t bands = 0;
    for (int k = 0; k < p->shown_count; k++)
      bands += is_alive(p, k, i) ? p->shown[k]->nbytes : 0;
    rest[i] = p->high[i] - bands;
  }
  for (int i = 0; i < p->columns; i++) {
    uint64_t left = rest[i < 2 ? 0 : i - 2];
    uint64_t right = rest[i + 2 < p->columns ? i + 2 : p->columns - 1];
    uint64_t level = left > right ? left : right;
    p->rest[i] = rest[i] < level ? rest[i] : level;
  }
}

static void open_plot(plot *p, const tl_timeline *t, int columns) {
  *p = (plot){.t = t, .columns = columns, .end = t->end > 1e-6 ? t->end : 1e-6};
  for (int i = 0; i < columns; i++)
    p->high[i] = highest(t, column_time(p, i), column_time(p, i + 1));
  choose_bands(p);
  for (int i = 0; i < columns; i++) find_alive(p, i);
  find_rest(p);
}

// Bytes below band [k] in a column; TOP: all that was alive.
enum { TOP_EDGE = SHOWN + 1 };

static uint64_t below(const plot *p, int k, int column) {
  uint64_t under = p->rest[column];
  if (k == TOP_EDGE)
    return p->high[column];
  for (int i = 0; i < k; i++)
    if (is_alive(p, i, column))
      under += p->shown[i]->nbytes;
  return under;
}

// --- Axes -------------------------------------------------------------------

// A round step for about [count] ticks up to [most].
static double round_step(double most, int count) {
  double rough = most / count, unit = pow(10, floor(log10(rough)));
  double ratio = rough / unit;
  return unit * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
}

// --- SVG --------------------------------------------------------------------

enum { WIDTH = 1000, HEIGHT = 560, LEFT = 84, TOP = 84, BOTTOM = 500 };
enum { RIGHT = LEFT + COLUMNS, LEGEND = RIGHT + 28 };

static const char *const colours[LINES] = {
    "#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#b07aa1",
    "#edc948", "#9c755f", "#ff9da7", "#8cd17d", "#d37295", "#a0cbe8"};

void tl_svg_text(tl_text *text, const char *from) {
  for (; *from != 0; from++) {
    switch (*from) {
      case '<':
        tl_text_puts(text, "&lt;");
        break;
      case '>':
        tl_text_puts(text, "&gt;");
        break;
      case '&':
        tl_text_puts(text, "&amp;");
        break;
      case '"':
        tl_text_puts(text, "&quot;");
        break;
      default:
        tl_text_putc(text, (unsigned char)*from < ' ' ? ' ' : *from);
    }
  }
}

static double y_of(const plot *p, double nbytes) {
  double most = (double)p->t->peak * 1.04;
  return BOTTOM - nbytes / most * (BOTTOM - TOP);
}

static void svg_axes(tl_text *text, const plot *p) {
  char label[TL_SPELLED];
  double most = (double)p->t->peak * 1.04, step = round_step(most, 6);
  for (int i = 0; i * step <= most; i++) {
    double y = y_of(p, i * step);
    tl_spell_bytes((uint64_t)(i * step), label);
    tl_text_printf(text,
                   "<path d=\"M%d %.1fH%d\" stroke=\"#e4e4e4\"/>"
                   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                   LEFT, y, RIGHT, LEFT - 8, y + 4, label);
  }
  double seconds = round_step(p->end, 6);
  for (int i = 0; i * seconds <= p->end; i++) {
    double x = LEFT + i * seconds / p->end * COLUMNS;
    spell_time(i * seconds, label);
    tl_text_printf(text,
                   "<path d=\"M%.1f %dv5\" stroke=\"#666\"/><text x=\"%.1f\" "
                   "y=\"%d\" text-anchor=\"middle\">%s</text>\n",
                   x, BOTTOM, x, BOTTOM + 20, i == 0 ? "0" : label);
  }
  tl_text_printf(text,
                 "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time</text>\n"
                 "<text transform=\"translate(18 %d) rotate(-90)\" "
                 "text-anchor=\"middle\">bytes alive</text>\n",
                 (LEFT + RIGHT) / 2, BOTTOM + 42, (TOP + BOTTOM) / 2);
}

// The edge between band k - 1 and band k over the columns [from, to), rightward
// or back. Only corners are written.
static void svg_edge(tl_text *text, const plot *p, int k, int from, int to,
                     bool back) {
  double last = -1;
  for (int i = 0; i < to - from; i++) {
    int column = back ? to - 1 - i : from + i;
    double y = y_of(p, (double)below(p, k, column));
    bool begins = i == 0;
    if (!begins && fabs(y - last) < 0.05)
      continue;
    double x = LEFT + column + (back ? 1 : 0);
    tl_text_printf(text, begins && !back ? "M%.0f %.1f" : "H%.0fV%.1f", x, y);
    last = y;
  }
  tl_text_printf(text, "H%d", LEFT + (back ? from : to));
}

static void svg_area(tl_text *text, const plot *p, int k, int from, int to,
                     const char *style) {
  tl_text_puts(text, "<path d=\"");
  svg_edge(text, p, k, from, to, false);
  if (k == TOP_EDGE)
    tl_text_printf(text, "V%dH%d", BOTTOM, LEFT + from);
  else
    svg_edge(text, p, k - 1, from, to, true);
  tl_text_printf(text, "Z\" %s/>\n", style);
}

// The columns of a band: *from is -1 where it covers none.
static void find_columns(const plot *p, int k, int *from, int *to) {
  *from = *to = -1;
  for (int i = 0; i < p->columns; i++) {
    if (!is_alive(p, k, i))
      continue;
    if (*from < 0)
      *from = i;
    *to = i + 1;
  }
}

static void band_label(const tl_band *b, char *out, size_t size) {
  char bytes[TL_SPELLED];
  tl_spell_bytes(b->nbytes, bytes);
  snprintf(out, size, "line %u · %s", b->line, bytes);
}

// A label where the band is thick and long enough for it.
static void svg_label(tl_text *text, const plot *p, int k, int from, int to) {
  char label[64];
  band_label(p->shown[k], label, sizeof label);
  int wanted = 7 * (int)strlen(label) + 8, begin = from;
  double thick = y_of(p, 0) - y_of(p, (double)p->shown[k]->nbytes);
  double y = 0;
  if (thick < 16)
    return;
  for (int i = from; i < to; i++) {  // the first stretch that stays level
    double at = y_of(p, (double)below(p, k, i));
    if (i == from || fabs(at - y) > 2) {
      begin = i;
      y = at;
    }
    if (i - begin < wanted)
      continue;
    tl_text_printf(text,
                   "<text x=\"%d\" y=\"%.1f\" fill=\"#fff\" "
                   "font-weight=\"600\">%s</text>\n",
                   LEFT + begin + 6, y - thick / 2 + 4, label);
    return;
  }
}

static void svg_bands(tl_text *text, const plot *p) {
  svg_area(text, p, TOP_EDGE, 0, p->columns, "fill=\"#d0d0d0\"");
  for (int k = 0; k < p->shown_count; k++) {
    char style[100];
    int from, to;
    find_columns(p, k, &from, &to);
    if (from < 0)
      continue;
    snprintf(style, sizeof style,
             "fill=\"%s\" stroke=\"#fff\" stroke-width=\"0.6\"",
             colours[p->group[k]]);
    svg_area(text, p, k + 1, from, to, style);
    svg_label(text, p, k, from, to);
  }
  tl_text_puts(text, "<path d=\"");
  svg_edge(text, p, TOP_EDGE, 0, p->columns, false);
  tl_text_puts(text,
               "\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\"/>\n");
}

static const char *file_of(const tl_timeline *t, uint32_t index) {
  const char *name = t->files[index < t->file_count ? index : 0];
  const char *slash = strrchr(name, '/');
  return slash == NULL ? name : slash + 1;
}

// At most [most] bytes of a source line.
static void svg_source(tl_text *text, const char *from, size_t most) {
  char excerpt[128];
  snprintf(excerpt, sizeof excerpt, "%s", from);
  if (strlen(excerpt) > most) {
    size_t n = most - 1;
    while (n > 0 && ((unsigned char)excerpt[n] & 0xc0) == 0x80) n--;
    memcpy(excerpt + n, "…", sizeof "…");
  }
  tl_svg_text(text, excerpt);
}

// "line 3", or in another file than the script's "lib.tly, line 3".
static void svg_place(tl_text *text, const tl_timeline *t, uint32_t file,
                      uint32_t line) {
  if (file != 0) {
    tl_svg_text(text, file_of(t, file));
    tl_text_puts(text, ", ");
  }
  tl_text_printf(text, "line %u", line);
}

static void svg_marks(tl_text *text, const plot *p) {
  const tl_timeline *t = p->t;
  char bytes[TL_SPELLED];
  double x = LEFT + t->peak_at / p->end * COLUMNS, y = y_of(p, (double)t->peak);
  tl_text_printf(text,
                 "<path d=\"M%d %.1fH%d\" stroke=\"#222\" "
                 "stroke-dasharray=\"2 3\"/>"
                 "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#222\"/>\n",
                 LEFT, y, RIGHT, x, y);
  tl_spell_bytes(t->peak, bytes);
  // To the side that has more room, which the line's text must fit in beside
  // what stands before it.
  enum { BEFORE = 175, LETTER = 8, MOST = 44 };
  bool right = x > (LEFT + RIGHT) / 2.0;
  double room = ((right ? x - LEFT : RIGHT - x) - BEFORE) / LETTER;
  tl_text_printf(text,
                 "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" "
                 "font-weight=\"600\" stroke=\"#fff\" stroke-width=\"4\" "
                 "paint-order=\"stroke\">peak %s",
                 right ? x + 4 : fmax(x - 4, LEFT + 4), y - 9,
                 right ? "end" : "start", bytes);
  if (t->peak_line > 0) {
    tl_text_puts(text, ", ");
    svg_place(text, t, t->peak_file, t->peak_line);
    tl_text_puts(text,
                 ": <tspan font-family=\"monospace\" font-weight=\"400\">");
    svg_source(text, t->peak_text, room < MOST ? (size_t)room : MOST);
    tl_text_puts(text, "</tspan>");
  } else {
    tl_text_puts(text, ", while code is compiled");
  }
  tl_text_puts(text, "</text>\n");
}

// The largest band of a group, and how many blocks the group has.
static const tl_band *find_largest(const plot *p, int group, uint32_t *blocks) {
  const tl_band *largest = NULL;
  *blocks = 0;
  for (int k = 0; k < p->shown_count; k++) {
    if (p->group[k] != group)
      continue;
    if (largest == NULL || p->shown[k]->nbytes > largest->nbytes)
      largest = p->shown[k];
    *blocks += p->shown[k]->times;
  }
  return largest;
}

static void svg_legend_line(tl_text *text, const plot *p, int group, int y) {
  uint32_t blocks;
  const tl_band *largest = find_largest(p, group, &blocks);
  char bytes[TL_SPELLED];
  tl_spell_bytes(largest->nbytes, bytes);
  tl_text_printf(text,
                 "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" "
                 "fill=\"%s\"/><text x=\"%d\" y=\"%d\">",
                 LEGEND, y - 10, colours[group], LEGEND + 18, y);
  tl_text_printf(text, "line %u: ", largest->line);
  if (blocks > 1)
    tl_text_printf(text, "%u blocks, up to ", blocks);
  tl_text_printf(text,
                 "%s</text><text x=\"%d\" y=\"%d\" font-family=\"monospace\" "
                 "font-size=\"11\" fill=\"#555\">",
                 bytes, LEGEND + 18, y + 14);
  char source[128];
  if (largest->file != 0)
    snprintf(source, sizeof source, "%.24s: %s", file_of(p->t, largest->file),
             largest->text);
  else
    snprintf(source, sizeof source, "%s", largest->text);
  svg_source(text, source, 32);
  tl_text_puts(text, "</text>\n");
}

// What the colours stand for, the youngest line first.
static void svg_legend(tl_text *text, const plot *p) {
  int y = TOP + 4;
  char least[TL_SPELLED];
  tl_spell_bytes(least_band(p->t), least);
  for (int group = p->group_count - 1; group >= 0; group--, y += 33)
    svg_legend_line(text, p, group, y);
  tl_text_printf(text,
                 "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" "
                 "fill=\"#d0d0d0\"/><text x=\"%d\" y=\"%d\">everything "
                 "else</text><text x=\"%d\" y=\"%d\" font-size=\"11\" "
                 "fill=\"#555\">code, and blocks below %s</text>\n",
                 LEGEND, y - 10, LEGEND + 18, y, LEGEND + 18, y + 14, least);
}

void tl_plot_svg(tl_text *text, const tl_timeline *t) {
  plot p;
  char before[TL_SPELLED], peak[TL_SPELLED], after[TL_SPELLED];
  open_plot(&p, t, COLUMNS);
  tl_spell_bytes(t->before, before);
  tl_spell_bytes(t->peak, peak);
  tl_spell_bytes(t->after, after);
  tl_text_printf(text,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                 "height=\"%d\" viewBox=\"0 0 %d %d\" "
                 "font-family=\"sans-serif\" font-size=\"12\" "
                 "fill=\"#222\">\n<rect width=\"%d\" height=\"%d\" "
                 "fill=\"#fff\"/>\n<text x=\"%d\" y=\"30\" font-size=\"17\" "
                 "font-weight=\"600\">",
                 WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
  svg_source(text, t->file_count > 0 ? file_of(t, 0) : "", 60);
  tl_text_printf(text,
                 "%slive bytes over time</text>\n<text x=\"%d\" y=\"50\" "
                 "fill=\"#555\">before %s · peak %s · after %s</text>\n",
                 t->file_count > 0 ? ": " : "", LEFT, before, peak, after);
  svg_axes(text, &p);
  svg_bands(text, &p);
  tl_text_printf(text,
                 "<path d=\"M%d %dV%dH%d\" fill=\"none\" "
                 "stroke=\"#666\"/>\n",
                 LEFT, TOP - 10, BOTTOM, RIGHT);
  svg_marks(text, &p);
  svg_legend(text, &p);
  tl_text_puts(text, "</svg>\n");
}

// --- Text -------------------------------------------------------------------

static void fill(tl_text *text, const char *with, int count) {
  for (int i = 0; i < count; i++) tl_text_puts(text, with);
}

// One row of the picture: [row] counts from the bottom.
static void text_row(tl_text *text, const plot *p, int row, int rows) {
  static const char *const eighths[] = {" ", "▁", "▂", "▃", "▄",
                                        "▅", "▆", "▇", "█"};
  int end = p->columns;
  double unit = (double)p->t->peak / rows;
  for (int i = 0; i < end; i++) {
    double filled = ((double)p->high[i] / unit - row) * 8;
    int eighth = filled >= 8 ? 8 : filled <= 0 ? 0 : (int)(filled + 0.5);
    tl_text_puts(text, eighths[eighth]);
  }
}

// How many bytes of the text show [most] characters of it, or all.
static int short_of(const char *text, size_t most) {
  size_t n = 0;
  for (size_t shown = 0; text[n] != 0; n++) {
    shown += ((unsigned char)text[n] & 0xc0) != 0x80;
    if (shown > most)
      break;
  }
  return (int)n;
}

static uint64_t bands_of(const plot *p, int group) {
  uint64_t bands = 0;
  for (int k = 0; k < p->shown_count; k++)
    bands |= (uint64_t)(p->group[k] == group) << k;
  return bands;
}

// Where blocks born in one line are alive, and the line.
static void text_group(tl_text *text, const plot *p, int group) {
  char bytes[TL_SPELLED], many[40] = "";
  uint32_t blocks;
  const tl_band *b = find_largest(p, group, &blocks);
  uint64_t bands = bands_of(p, group);
  int end = p->columns;
  while (end > 0 && (p->alive[end - 1] & bands) == 0) end--;
  if (end == 0)
    return;
  tl_spell_bytes(b->nbytes, bytes);
  tl_text_printf(text, "%8s  ", bytes);
  for (int i = 0; i < end; i++)
    tl_text_puts(text, (p->alive[i] & bands) == 0 ? " " : "━");
  if (blocks > 1)
    snprintf(many, sizeof many, ", %u blocks", blocks);
  char place[80];
  int taken =
      snprintf(place, sizeof place,
               "%.20s%s%u%s: ", b->file == 0 ? "" : file_of(p->t, b->file),
               b->file == 0 ? "" : ":", b->line, many);
  size_t room = p->columns - taken < 8 ? 8 : (size_t)(p->columns - taken);
  int whole = (int)strlen(b->text), shown = short_of(b->text, room);
  tl_text_printf(text, "\n          %s%.*s%s\n", place,
                 shown < whole ? short_of(b->text, room - 1) : whole, b->text,
                 shown < whole ? "…" : "");
}

void tl_plot_text(tl_text *text, const tl_timeline *t, int width) {
  enum { ROWS = 12, MARGIN = 10 };
  plot p;
  char label[TL_SPELLED], before[TL_SPELLED], after[TL_SPELLED];
  int columns = width - MARGIN - 2;
  open_plot(&p, t, columns < 28 ? 28 : columns > COLUMNS ? COLUMNS : columns);
  for (int row = ROWS - 1; row >= 0; row--) {
    bool marked = row == ROWS - 1 || row % 3 == 2;
    tl_spell_bytes(t->peak / ROWS * (uint64_t)(row + 1), label);
    if (row == ROWS - 1)
      tl_spell_bytes(t->peak, label);
    tl_text_printf(text, "%8s %s", marked ? label : "", marked ? "┤" : "│");
    text_row(text, &p, row, ROWS);
    tl_text_puts(text, "\n");
  }
  tl_text_printf(text, "%8s └", "0 B");
  fill(text, "─", p.columns);
  spell_time(p.end, label);
  tl_text_printf(text, "\n%10s0%*s\n", "", p.columns - 1, label);
  tl_spell_bytes(t->before, before);
  tl_spell_bytes(t->after, after);
  tl_spell_bytes(t->peak, label);
  tl_text_printf(text, "before %s, peak %s, after %s\n", before, label, after);
  if (t->peak_line > 0) {
    tl_text_printf(text, "peak at %s:%u: ", file_of(t, t->peak_file),
                   t->peak_line);
    tl_text_puts(text, t->peak_text);
    tl_text_puts(text, "\n");
  } else {
    tl_text_puts(text, "peak while code is compiled\n");
  }
  for (int group = 0; group < p.group_count; group++)
    text_group(text, &p, group);
}
