"""The browser that WebKitWebDriver starts: a window with nothing but a WebKitGTK view. WebKit's own test browser cannot be
narrower than 447 px, and the driver cannot change a visitor's settings. The one argument is JSON: the modes, and the file
for the console."""

import json
import os
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, WebKit2  # noqa: E402

options = json.loads(sys.argv[1])
modes = options["modes"]
# The driver discards the browser's output. Despite the setting's name, the console is written to standard error.
os.dup2(os.open(options["consoleFile"], os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)

theme = Gtk.Settings.get_default()
theme.set_property("gtk-enable-animations", not modes.get("isMotionReduced", False))
theme.set_property("gtk-application-prefer-dark-theme", modes.get("isDark", False))
theme.set_property("gtk-overlay-scrolling", not modes.get("areScrollbarsClassic", False))

# Not an ephemeral context, which would write nothing to the console. This one stores its data in HOME.
context = WebKit2.WebContext()
context.set_automation_allowed(True)


def create_view(_session):
    autoplay = WebKit2.AutoplayPolicy.DENY if modes.get("isAutoplayBlocked", False) else WebKit2.AutoplayPolicy.ALLOW
    view = WebKit2.WebView(
        web_context=context,
        is_controlled_by_automation=True,
        website_policies=WebKit2.WebsitePolicies(autoplay=autoplay),
    )
    settings = view.get_settings()
    settings.set_property("enable-write-console-messages-to-stdout", True)
    settings.set_property("enable-javascript", not modes.get("isScriptOff", False))
    settings.set_property("default-font-size", 16 * modes.get("textScale", 1))
    window = Gtk.Window()
    window.add(view)
    window.show_all()
    # Sets the focus, because there is no window manager.
    window.get_window().focus(GLib.get_monotonic_time() // 1000 & 0xFFFFFFFF)
    view.grab_focus()
    return view


def start_session(_context, session):
    information = WebKit2.ApplicationInfo()
    # The name that the driver expects by default.
    information.set_name("MiniBrowser")
    information.set_version(WebKit2.get_major_version(), WebKit2.get_minor_version(), WebKit2.get_micro_version())
    session.set_application_info(information)
    session.connect("create-web-view", create_view)


context.connect("automation-started", start_session)
Gtk.main()
