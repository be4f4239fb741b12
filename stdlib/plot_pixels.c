// Pictures as pixels, by librsvg, which is loaded where a script asks for it:
// drawing shapes and letters well is much code, and SVG says all that it needs.
// Its licence (LGPL) allows that of any program, and nothing here is linked
// with it. It reads no file that a picture names: the text comes without an
// address.

#include "stdlib/families.h"
#include "stdlib/shared_library.h"

// As librsvg/rsvg.h and cairo.h have them, since librsvg 2.46 (2019).
typedef struct rectangle {
  double x, y, width, height;
} rectangle;
typedef void *read_svg(const unsigned char *text, size_t nbytes, void **error);
typedef int draw_svg(void *handle, void *context, const rectangle *viewport,
                     void **error);
typedef void *make_surface(unsigned char *pixels, int format, int width,
                           int height, int stride);
typedef void *make_context(void *surface);
typedef void set_color(void *context, double red, double green, double blue);
typedef int ask_status(void *context);
typedef void call_on(void *object);
enum { RGB24 = 1 };     // a pixel is a uint32, red in bits 16 to 23
enum { MOST = 32767 };  // pixels of a side: what cairo's coordinates hold

// All that is called; those of cairo and GObject are found in librsvg's own
// dependencies.
enum {
  READ,
  DRAW,
  UNREF,
  SURFACE,
  FLUSH,
  DROP_SURFACE,
  CONTEXT,
  DROP_CONTEXT,
  COLOR,
  PAINT,
  STATUS,
  FUNCTIONS
};
static void (*functions[FUNCTIONS])(void);

static tl_shared_library library = {
    .names =
        (const char *const[]){"librsvg-2.so.2", "librsvg-2.so",
                              "librsvg-2.2.dylib", "librsvg-2.dylib", NULL},
    .symbols =
        (const char *const[]){
            "rsvg_handle_new_from_data", "rsvg_handle_render_document",
            "g_object_unref", "cairo_image_surface_create_for_data",
            "cairo_surface_flush", "cairo_surface_destroy", "cairo_create",
            "cairo_destroy", "cairo_set_source_rgb", "cairo_paint",
            "cairo_status", NULL},
    .functions = functions,
    .about = "librsvg (Debian: librsvg2-2; .svg files need none)",
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

// Calls a function that takes one object and whose result nobody needs.
static void run(int function, void *object) {
  ((call_on *)functions[function])(object);
}

// Draws the text on white into pixels of 4 bytes.
static bool draw(const tl_string *svg, unsigned char *pixels, int width,
                 int height) {
  void *handle = ((read_svg *)functions[READ])((const unsigned char *)svg->text,
                                               svg->length, NULL);
  if (handle == NULL)
    return false;
  void *surface = ((make_surface *)functions[SURFACE])(pixels, RGB24, width,
                                                       height, 4 * width);
  void *context = ((make_context *)functions[CONTEXT])(surface);
  const rectangle all = {0, 0, width, height};
  ((set_color *)functions[COLOR])(context, 1, 1, 1);
  run(PAINT, context);
  bool ok = ((draw_svg *)functions[DRAW])(handle, context, &all, NULL) &&
            ((ask_status *)functions[STATUS])(context) == 0;
  run(DROP_CONTEXT, context);
  run(FLUSH, surface);
  run(DROP_SURFACE, surface);
  run(UNREF, handle);
  return ok;
}

// The pixels as red, green and blue.
static bool three_channels(tl_vm *vm, const tl_array *pixels, tl_slot *out) {
  const int64_t *from = tl_shape(pixels);
  const int64_t shape[3] = {from[0], from[1], 3};
  tl_array *made = tl_array_new(vm, TL_UINT8, 3, shape);
  bool ok = made != NULL;
  for (int64_t i = 0; i < pixels->size / 4 && tl_poll_ok(vm, i, &ok); i++) {
    uint32_t pixel;
    memcpy(&pixel, pixels->data + 4 * i, sizeof pixel);
    for (int k = 0; k < 3; k++)
      made->data[3 * i + k] = (char)(pixel >> (16 - 8 * k) & 0xff);
  }
  return tl_array_finish(vm, ok, made, out);
}

// A side of the picture in pixels is from 1 to MOST (kind value).
static bool check_side(tl_vm *vm, const char *name, int64_t side) {
  return (side >= 1 && side <= MOST) ||
         tl_fail(vm, TALLY_ERR_VALUE,
                 "rasterize: %s must be from 1 to %d pixels, not %lld", name,
                 MOST, (long long)side);
}

// svg, width, height
static bool rasterize(tl_vm *vm, tl_slot *args, tl_slot *out) {
  const int64_t width = args[1].i, height = args[2].i;
  if (!check_side(vm, "width", width) || !check_side(vm, "height", height) ||
      !tl_shared_library_need(vm, "rasterize", &library))
    return false;
  const int64_t shape[3] = {height, width, 4};
  tl_array *pixels = tl_array_zeros(vm, TL_UINT8, 3, shape);
  if (pixels == NULL)
    return false;
  bool ok = draw(args[0].string, (unsigned char *)pixels->data, (int)width,
                 (int)height);
  tl_clear(vm, &args[0]);  // not needed while both arrays of pixels live
  if (!ok)
    tl_fail(vm, TALLY_ERR_VALUE, "rasterize: svg is no picture in SVG");
  ok = ok && three_channels(vm, pixels, out);
  tl_drop(vm, tl_own_array(pixels));
  return ok;
}

const tl_builtin tl_plot_module[] = {
    /// The pixels of a picture in SVG, a string such as plot.svg gives, drawn
    /// to a width and a height, integers, on white: uint8, rows * columns * 3.
    /// It needs librsvg (an io error where that is not installed) and, for
    /// letters, any font. A text that is no SVG and a side of no or more than
    /// 32767 pixels are value errors. plot.save writes a PNG file by it.
    ///     line = plot.svg(plot.line([1, 3, 2]))
    ///     plot.rasterize(line, 320, 200).shape    # (200, 320, 3)
    {"rasterize", "svg, width, height", rasterize, TL_FILES, .types = "sii"},
    {.name = NULL},
};
