//! What stands around a window on a desk: a window manager as small as can be, and a user with hands.

use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use image::RgbImage;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, CreateWindowAux,
    EventMask, ImageFormat, InputFocus, PropMode, StackMode, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

const ICONIC: u32 = 3;
const NORMAL: u32 = 1;

x11rb::atom_manager! {
    pub Atoms: AtomsCookie {
        WM_STATE,
        WM_CHANGE_STATE,
        WM_PROTOCOLS,
        WM_DELETE_WINDOW,
        UTF8_STRING,
        _NET_WM_NAME,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_ACTIVE_WINDOW,
    }
}

/// A window manager in a thread of its own: windows get the places and sizes they ask for, and are minimised and restored.
pub struct WindowManager {
    is_done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl WindowManager {
    /// Manages the windows of `display`.
    pub fn start(display: &str) -> Self {
        let (connection, screen_idx) = x11rb::connect(Some(display)).expect("the display is there");
        let root = connection.setup().roots[screen_idx].root;
        let atoms = Atoms::new(&connection).expect("sent").reply().expect("atoms");
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
        connection.change_window_attributes(root, &attributes).expect("sent").check().expect("no other window manager");
        let is_done = Arc::new(AtomicBool::new(false));
        let is_done_there = is_done.clone();
        let thread = std::thread::spawn(move || {
            while !is_done_there.load(Ordering::Relaxed) {
                match connection.poll_for_event() {
                    Ok(Some(event)) => manage(&connection, &atoms, &event),
                    Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                    Err(_) => return, // The display was shut down.
                }
            }
        });
        Self { is_done, thread: Some(thread) }
    }
}

impl Drop for WindowManager {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Windows come and go while they are managed: a request for one that is gone fails, and that is fine.
fn manage(connection: &RustConnection, atoms: &Atoms, event: &Event) {
    match event {
        Event::MapRequest(request) => set_minimized(connection, atoms, request.window, false),
        Event::ConfigureRequest(request) => {
            let _ = connection.configure_window(request.window, &ConfigureWindowAux::from_configure_request(request));
        }
        Event::ClientMessage(message) if message.type_ == atoms.WM_CHANGE_STATE => {
            set_minimized(connection, atoms, message.window, message.data.as_data32()[0] == ICONIC);
        }
        Event::ClientMessage(message) if message.type_ == atoms._NET_ACTIVE_WINDOW => {
            set_minimized(connection, atoms, message.window, false);
        }
        _ => {}
    }
    let _ = connection.flush();
}

fn set_minimized(connection: &RustConnection, atoms: &Atoms, window: Window, is_minimized: bool) {
    let (state, net_state): (u32, &[u32]) =
        if is_minimized { (ICONIC, &[atoms._NET_WM_STATE_HIDDEN]) } else { (NORMAL, &[]) };
    let _ = connection.change_property32(PropMode::REPLACE, window, atoms.WM_STATE, atoms.WM_STATE, &[state, 0]);
    let _ = connection.change_property32(PropMode::REPLACE, window, atoms._NET_WM_STATE, AtomEnum::ATOM, net_state);
    let _ = if is_minimized { connection.unmap_window(window) } else { connection.map_window(window) };
}

/// Someone who moves, covers, types and clicks, and sees what is on the screen.
pub struct User {
    connection: RustConnection,
    root: Window,
    screen_px: [u16; 2],
    atoms: Atoms,
    cover: Window,
    xtest_opcode: u8,
}

impl User {
    /// Sits down before `display`.
    pub fn new(display: &str) -> Self {
        let (connection, screen_idx) = x11rb::connect(Some(display)).expect("the display is there");
        let screen = &connection.setup().roots[screen_idx];
        let (root, screen_px) = (screen.root, [screen.width_in_pixels, screen.height_in_pixels]);
        let atoms = Atoms::new(&connection).expect("sent").reply().expect("atoms");
        let cover = connection.generate_id().expect("an id");
        // No window manager has a say about it, so that it stays on top.
        let attributes = CreateWindowAux::new().override_redirect(1).background_pixel(0x0040_4040);
        connection
            .create_window(
                0,
                cover,
                root,
                0,
                0,
                screen_px[0],
                screen_px[1],
                0,
                WindowClass::INPUT_OUTPUT,
                0,
                &attributes,
            )
            .expect("sent");
        let xtest = connection.query_extension(b"XTEST").expect("sent").reply().expect("an answer");
        assert!(xtest.present, "Xvfb has XTEST");
        Self { xtest_opcode: xtest.major_opcode, connection, root, screen_px, atoms, cover }
    }

    /// The window whose title begins with "Praxis", once it is on the screen.
    pub fn find_window(&self, longest: Duration) -> Window {
        let started = Instant::now();
        loop {
            let tree = self.connection.query_tree(self.root).expect("sent").reply().expect("windows");
            let found = tree.children.into_iter().find(|&window| self.title(window).starts_with("Praxis"));
            if let Some(window) = found.filter(|&window| self.is_mapped(window)) {
                return window;
            }
            assert!(started.elapsed() < longest, "no window after {longest:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn title(&self, window: Window) -> String {
        let (name, utf8) = (self.atoms._NET_WM_NAME, self.atoms.UTF8_STRING);
        let title = self.connection.get_property(false, window, name, utf8, 0, 1024).expect("sent").reply();
        title.map(|title| String::from_utf8_lossy(&title.value).into_owned()).unwrap_or_default()
    }

    fn is_mapped(&self, window: Window) -> bool {
        use x11rb::protocol::xproto::MapState;
        let attributes = self.connection.get_window_attributes(window).expect("sent").reply();
        attributes.is_ok_and(|attributes| attributes.map_state == MapState::VIEWABLE)
    }

    pub fn resize(&self, window: Window, [width, height]: [u32; 2]) {
        self.configure(window, &ConfigureWindowAux::new().width(width).height(height));
    }

    pub fn place(&self, window: Window, [x, y]: [i32; 2]) {
        self.configure(window, &ConfigureWindowAux::new().x(x).y(y));
    }

    fn configure(&self, window: Window, how: &ConfigureWindowAux) {
        self.connection.configure_window(window, how).expect("sent");
        self.connection.flush().expect("sent");
    }

    pub fn minimise(&self, window: Window) {
        self.tell_manager(window, self.atoms.WM_CHANGE_STATE, ICONIC);
    }

    pub fn restore(&self, window: Window) {
        self.tell_manager(window, self.atoms._NET_ACTIVE_WINDOW, 1);
    }

    fn tell_manager(&self, window: Window, what: u32, how: u32) {
        let message = ClientMessageEvent::new(32, window, what, [how, 0, 0, 0, 0]);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.connection.send_event(false, self.root, mask, message).expect("sent");
        self.connection.flush().expect("sent");
    }

    /// Puts something over the whole screen, or takes it away.
    pub fn cover(&self, is_covered: bool) {
        if is_covered {
            self.connection.map_window(self.cover).expect("sent");
            self.configure(self.cover, &ConfigureWindowAux::new().stack_mode(StackMode::ABOVE));
        } else {
            self.connection.unmap_window(self.cover).expect("sent");
        }
        self.connection.flush().expect("sent");
    }

    /// Asks the window to close, as a title bar's button does.
    pub fn close(&self, window: Window) {
        let data = [self.atoms.WM_DELETE_WINDOW, 0, 0, 0, 0];
        let message = ClientMessageEvent::new(32, window, self.atoms.WM_PROTOCOLS, data);
        self.connection.send_event(false, window, EventMask::NO_EVENT, message).expect("sent");
        self.connection.flush().expect("sent");
    }

    pub fn focus(&self, window: Window) {
        self.connection.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME).expect("sent");
        self.connection.flush().expect("sent");
    }

    /// Presses and releases the key with this X keysym.
    pub fn press_key(&self, keysym: u32) {
        let setup = self.connection.setup();
        let (first, n) = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1);
        let mapping = self.connection.get_keyboard_mapping(first, n).expect("sent").reply().expect("keys");
        let per_keycode = usize::from(mapping.keysyms_per_keycode);
        let key_idx = mapping.keysyms.chunks(per_keycode).position(|keysyms| keysyms[0] == keysym).expect("a key");
        let keycode = first + u8::try_from(key_idx).expect("a keycode");
        self.fake_input(2, keycode, [0, 0]);
        self.fake_input(3, keycode, [0, 0]);
    }

    /// Clicks with the left button at a place of the screen.
    pub fn click(&self, at_px: [i16; 2]) {
        self.fake_input(6, 0, at_px);
        std::thread::sleep(Duration::from_millis(50));
        self.fake_input(4, 1, [0, 0]);
        self.fake_input(5, 1, [0, 0]);
    }

    /// XTEST's FakeInput: key press 2, key release 3, button press 4, button release 5, motion 6.
    fn fake_input(&self, kind: u8, detail: u8, [x, y]: [i16; 2]) {
        let mut request = [0_u8; 36];
        request[0] = self.xtest_opcode;
        request[1] = 2;
        request[2..4].copy_from_slice(&9_u16.to_ne_bytes());
        request[4] = kind;
        request[5] = detail;
        request[12..16].copy_from_slice(&self.root.to_ne_bytes());
        request[24..26].copy_from_slice(&x.to_ne_bytes());
        request[26..28].copy_from_slice(&y.to_ne_bytes());
        let cookie = self.connection.send_request_without_reply(&[IoSlice::new(&request)], Vec::new()).expect("sent");
        drop(cookie);
        self.connection.flush().expect("sent");
    }

    /// What the screen shows from its upper left corner on.
    pub fn see(&self, [width, height]: [u16; 2]) -> RgbImage {
        assert!(width <= self.screen_px[0] && height <= self.screen_px[1]);
        let image = self.connection.get_image(ImageFormat::Z_PIXMAP, self.root, 0, 0, width, height, u32::MAX);
        let data = image.expect("sent").reply().expect("the screen").data;
        let pixels = data.chunks_exact(4).flat_map(|bgrx| [bgrx[2], bgrx[1], bgrx[0]]).collect();
        RgbImage::from_raw(width.into(), height.into(), pixels).expect("as many pixels as asked for")
    }
}
