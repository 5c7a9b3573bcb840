"""A window with nothing but a WebKitGTK view, driven over standard input and output: one JSON command a line, one JSON
answer a line. WebKit's own test browser cannot be narrower than 447 px, and its driver cannot print or set text sizes.
Its modes are the first argument, as JSON. Lines of standard output that are no JSON are the page's console."""

import io
import json
import os
import sys
import tempfile

import gi

gi.require_version("Gdk", "3.0")
gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gdk, GLib, Gtk, WebKit2  # noqa: E402

modes = json.loads(sys.argv[1])
Gtk.init([])
theme = Gtk.Settings.get_default()
theme.set_property("gtk-enable-animations", not modes["isMotionReduced"])
theme.set_property("gtk-application-prefer-dark-theme", modes["isDark"])
theme.set_property("gtk-overlay-scrolling", not modes["areScrollbarsClassic"])

seat = Gdk.Display.get_default().get_default_seat()

context = WebKit2.WebContext.new_ephemeral()
autoplay = WebKit2.AutoplayPolicy.DENY if modes["isAutoplayBlocked"] else WebKit2.AutoplayPolicy.ALLOW
view = WebKit2.WebView(web_context=context, website_policies=WebKit2.WebsitePolicies(autoplay=autoplay))
settings = view.get_settings()
settings.set_property("enable-write-console-messages-to-stdout", True)
settings.set_property("enable-javascript", not modes["isScriptOff"])
settings.set_property("default-font-size", 16 * modes["textScale"])
window = Gtk.Window()
window.add(view)
window.resize(1280, 800)
window.show_all()
# There is no window manager that would do it.
window.get_window().focus(Gdk.CURRENT_TIME)
view.grab_focus()


def answer(number, **fields):
    sys.stdout.write(json.dumps({"id": number, **fields}) + "\n")
    sys.stdout.flush()


def load(number, action):
    """Answers once the page that `action` asks for has loaded."""

    has_started = False

    def changed(_view, event):
        nonlocal has_started
        has_started = has_started or event == WebKit2.LoadEvent.STARTED
        # Before that it is the page that this one replaces.
        if has_started and event == WebKit2.LoadEvent.FINISHED:
            view.disconnect(handler)
            answer(number)

    handler = view.connect("load-changed", changed)
    action()


def evaluate(number, code):
    def done(_view, result):
        settings.set_property("enable-javascript", not modes["isScriptOff"])
        try:
            value = view.call_async_javascript_function_finish(result)
            answer(number, value=value.to_string())
        except GLib.Error as error:
            answer(number, error=error.message)

    # A page that was parsed with scripts off stays without its own.
    settings.set_property("enable-javascript", True)
    view.call_async_javascript_function(code, -1, None, None, None, None, done)


def resize(number, width, height):
    def settled(*_):
        size = (view.get_allocated_width(), view.get_allocated_height())
        if size != (width, height):
            return True
        answer(number)
        return False

    window.resize(width, height)
    GLib.timeout_add(10, settled)


def dispatch(number, events):
    """Answers once the page has handled them all. The next waits for the one before, as WebKit queues them itself."""

    def next_event(*_):
        event = next(events, None)
        if event is None:
            answer(number)
            return
        Gtk.main_do_event(event)
        # The page answers in the order in which it is asked.
        view.call_async_javascript_function("", -1, None, None, None, None, next_event)

    next_event()


def new_event(kind, part):
    event = Gdk.Event.new(kind)
    fields = getattr(event, part)
    fields.window = view.get_window()
    fields.time = GLib.get_monotonic_time() // 1000 & 0xFFFFFFFF
    event.set_device(seat.get_keyboard() if part == "key" else seat.get_pointer())
    return event, fields


def pointer_events(x, y):
    """A press of the first button."""
    _, root_x, root_y = view.get_window().get_origin()
    for kind, part in (
        (Gdk.EventType.MOTION_NOTIFY, "motion"),
        (Gdk.EventType.BUTTON_PRESS, "button"),
        (Gdk.EventType.BUTTON_RELEASE, "button"),
    ):
        event, fields = new_event(kind, part)
        fields.x, fields.y = x, y
        fields.x_root, fields.y_root = root_x + x, root_y + y
        if part == "button":
            fields.button = 1
        if kind == Gdk.EventType.BUTTON_RELEASE:
            fields.state = Gdk.ModifierType.BUTTON1_MASK
        yield event


def key_events(names):
    """Keys by their names in the DOM: a, A, Tab, Enter, Escape."""
    keymap = Gdk.Keymap.get_for_display(Gdk.Display.get_default())
    for name in names:
        named = {"Enter": "Return"}.get(name, name)
        keyval = Gdk.keyval_from_name(named) if len(named) > 1 else Gdk.unicode_to_keyval(ord(named))
        found, entries = keymap.get_entries_for_keyval(keyval)
        for kind in (Gdk.EventType.KEY_PRESS, Gdk.EventType.KEY_RELEASE):
            event, fields = new_event(kind, "key")
            fields.keyval = keyval
            if found:
                fields.hardware_keycode = entries[0].keycode
            yield event


def screenshot(number):
    def done(_view, result):
        picture = view.get_snapshot_finish(result)
        png = io.BytesIO()
        picture.write_to_png(png)
        answer(number, value=GLib.base64_encode(png.getvalue()))

    view.get_snapshot(WebKit2.SnapshotRegion.FULL_DOCUMENT, WebKit2.SnapshotOptions.NONE, None, done)


def print_page(number):
    folder = tempfile.mkdtemp()
    file = os.path.join(folder, "page.pdf")
    to_file = Gtk.PrintSettings()
    to_file.set_printer("Print to File")
    to_file.set(Gtk.PRINT_SETTINGS_OUTPUT_FILE_FORMAT, "pdf")
    to_file.set(Gtk.PRINT_SETTINGS_OUTPUT_URI, GLib.filename_to_uri(file))
    operation = WebKit2.PrintOperation.new(view)
    operation.set_print_settings(to_file)

    def finished(_operation):
        with open(file, "rb") as pdf:
            answer(number, value=GLib.base64_encode(pdf.read()))
        os.remove(file)
        os.rmdir(folder)

    def failed(_operation, error):
        answer(number, error=error.message)

    operation.connect("finished", finished)
    operation.connect("failed", failed)
    operations[number] = operation
    operation.print_()


operations = {}


def command(channel, _condition):
    line = channel.readline()
    if not line:
        Gtk.main_quit()
        return False
    message = json.loads(line)
    number, parameters = message["id"], message["parameters"]
    match message["command"]:
        case "open":
            load(number, lambda: view.load_uri(*parameters))
        case "reload":
            load(number, view.reload)
        case "back":
            load(number, view.go_back)
        case "evaluate":
            evaluate(number, *parameters)
        case "resize":
            resize(number, *parameters)
        case "press":
            dispatch(number, pointer_events(*parameters))
        case "keys":
            dispatch(number, key_events(*parameters))
        case "screenshot":
            screenshot(number)
        case "print":
            print_page(number)
    return True


answer(0, value=f"{WebKit2.get_major_version()}.{WebKit2.get_minor_version()}.{WebKit2.get_micro_version()}")
GLib.io_add_watch(sys.stdin, GLib.PRIORITY_DEFAULT, GLib.IO_IN | GLib.IO_HUP, command)
Gtk.main()
