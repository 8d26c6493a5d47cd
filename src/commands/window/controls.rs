//! Keys and mouse into what they mean: commands at once, camera moves once a frame.

use glam::Vec2;
use winit::event::MouseButton;
use winit::keyboard::KeyCode;

use super::camera::{Push, ViewerCamera};

/// What a key asks for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Close the window.
    Quit,
    /// Look through the scene's next camera.
    NextCamera,
    /// Look through this one of the scene's cameras, from 0.
    Camera(usize),
    /// Save what the window shows.
    Screenshot,
    /// Record a run, or end it.
    ToggleRecording,
    /// Back to the view at the start.
    Home,
    /// Let scene time stand or run.
    TogglePause,
    /// Scene time stands, one frame on.
    Step,
    /// Frame stats.
    ToggleStats,
    /// This list of keys.
    ToggleHelp,
    /// Mouse look without a button.
    ToggleLook,
}

/// Every key and what it does, as the help shows it.
pub const HELP: &[(&str, &str)] = &[
    ("click", "look at it, orbit about it"),
    ("left drag", "orbit"),
    ("right drag", "pan; look around while flying"),
    ("middle drag", "pan"),
    ("wheel", "come closer; speed while flying"),
    ("W A S D, Q E", "fly; down and up"),
    ("Shift", "fly faster"),
    ("Tab", "mouse look on or off"),
    ("1 to 9, C", "the scene's cameras, the next one"),
    ("Home", "the view at the start"),
    ("Space", "pause"),
    (".", "one frame on"),
    ("F1", "this help"),
    ("F3", "Frame stats"),
    ("F12", "save a picture"),
    ("R", "record a run, end it"),
    ("drop a file", "open it"),
    ("Esc", "close"),
];

/// What the camera's keys and mouse do at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Turning about a target.
    #[default]
    Orbit,
    /// Flying.
    Fly,
}

/// Keys and buttons that are held, and mouse moves that no frame has used yet.
#[derive(Debug, Default)]
pub struct Controls {
    mode: Mode,
    held: Vec<KeyCode>,
    button: Option<MouseButton>,
    cursor: Option<Vec2>,
    /// How far the cursor went since the left button went down.
    pressed_path_px: f32,
    click_px: Option<Vec2>,
    is_looking: bool,
    orbit_px: Vec2,
    pan_px: Vec2,
    look_px: Vec2,
    n_notches: f32,
}

const FLY_KEYS: [KeyCode; 6] =
    [KeyCode::KeyW, KeyCode::KeyA, KeyCode::KeyS, KeyCode::KeyD, KeyCode::KeyQ, KeyCode::KeyE];

/// The scene's first nine cameras.
const CAMERA_KEYS: [KeyCode; 9] = [
    KeyCode::Digit1,
    KeyCode::Digit2,
    KeyCode::Digit3,
    KeyCode::Digit4,
    KeyCode::Digit5,
    KeyCode::Digit6,
    KeyCode::Digit7,
    KeyCode::Digit8,
    KeyCode::Digit9,
];

/// A hand is never quite still: a press that went no farther is a click.
const CLICK_PX: f32 = 4.0;

/// With one of these a key means something to the system, such as Alt and Tab.
const SYSTEM_KEYS: [KeyCode; 6] = [
    KeyCode::AltLeft,
    KeyCode::AltRight,
    KeyCode::ControlLeft,
    KeyCode::ControlRight,
    KeyCode::SuperLeft,
    KeyCode::SuperRight,
];

impl Controls {
    /// A key goes down (`is_repeat`: it stays down) or up.
    pub fn key(&mut self, key: KeyCode, is_down: bool, is_repeat: bool) -> Option<Command> {
        if !is_down {
            self.held.retain(|&held| held != key);
            return None;
        }
        if !self.held.contains(&key) {
            self.held.push(key);
        }
        if FLY_KEYS.contains(&key) {
            self.mode = Mode::Fly;
        }
        if SYSTEM_KEYS.iter().any(|modifier| self.held.contains(modifier)) {
            return None;
        }
        match key {
            KeyCode::Period => Some(Command::Step),
            _ if is_repeat => None,
            KeyCode::Escape => Some(Command::Quit),
            KeyCode::KeyC => Some(Command::NextCamera),
            KeyCode::KeyR => Some(Command::ToggleRecording),
            KeyCode::F12 => Some(Command::Screenshot),
            KeyCode::Home => Some(Command::Home),
            KeyCode::Space => Some(Command::TogglePause),
            KeyCode::F1 => Some(Command::ToggleHelp),
            KeyCode::F3 => Some(Command::ToggleStats),
            KeyCode::Tab => Some(Command::ToggleLook),
            _ => CAMERA_KEYS.iter().position(|&camera_key| camera_key == key).map(Command::Camera),
        }
    }

    /// A mouse button goes down or up.
    pub fn button(&mut self, button: MouseButton, is_down: bool) {
        if is_down {
            self.button = Some(button);
            self.pressed_path_px = 0.0;
            if button == MouseButton::Left && !self.is_looking {
                self.mode = Mode::Orbit;
            }
        } else if self.button == Some(button) {
            self.button = None;
            if button == MouseButton::Left && !self.is_looking && self.pressed_path_px <= CLICK_PX {
                self.click_px = self.cursor;
            }
        }
    }

    /// The cursor is at `position_px`.
    pub fn cursor_moved(&mut self, position_px: Vec2) {
        let Some(before) = self.cursor.replace(position_px) else { return };
        let moved = position_px - before;
        self.pressed_path_px += moved.length();
        // Looking takes the mouse's own moves, which have no edge of the screen.
        match (self.is_looking, self.button, self.mode) {
            (true, ..) => {}
            (_, Some(MouseButton::Left), _) => self.orbit_px += moved,
            (_, Some(MouseButton::Right), Mode::Fly) => self.look_px += moved,
            (_, Some(MouseButton::Right | MouseButton::Middle), _) => self.pan_px += moved,
            _ => {}
        }
    }

    /// The mouse itself moved.
    pub fn mouse_moved(&mut self, moved_px: Vec2) {
        if self.is_looking {
            self.look_px += moved_px;
        }
    }

    /// The wheel turned, away from the user if positive.
    pub fn wheel(&mut self, n_notches: f32) {
        if n_notches.is_finite() {
            self.n_notches += n_notches;
        }
    }

    /// Where the left button was pressed and released since the last call, without a drag between.
    pub fn take_click(&mut self) -> Option<Vec2> {
        self.click_px.take()
    }

    /// Whether the mouse turns the view without a button.
    pub fn is_looking(&self) -> bool {
        self.is_looking
    }

    /// Turns mouse look on or off.
    pub fn set_looking(&mut self, is_looking: bool) {
        self.is_looking = is_looking;
        if is_looking {
            self.mode = Mode::Fly;
        }
    }

    /// The window lost the keyboard: no key's release will be told.
    pub fn release_all(&mut self) {
        self.held.clear();
        self.button = None;
    }

    /// What the camera's keys and mouse do.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether the camera has to move.
    pub fn has_moves(&self) -> bool {
        self.push().is_any()
            || self.n_notches != 0.0
            || [self.orbit_px, self.pan_px, self.look_px].iter().any(|moved| *moved != Vec2::ZERO)
    }

    /// Moves the camera by what came since the last call and by keys held for `elapsed_s` seconds. Returns whether the fly
    /// speed changed.
    pub fn apply(&mut self, camera: &mut ViewerCamera, elapsed_s: f32, height_px: f32) -> bool {
        let take = std::mem::take::<Vec2>;
        let (orbit_px, pan_px, look_px) = (take(&mut self.orbit_px), take(&mut self.pan_px), take(&mut self.look_px));
        if orbit_px != Vec2::ZERO {
            camera.orbit(orbit_px, height_px);
        }
        if pan_px != Vec2::ZERO {
            camera.pan(pan_px, height_px);
        }
        if look_px != Vec2::ZERO {
            camera.look(look_px);
        }
        let n_notches = std::mem::take(&mut self.n_notches);
        let changes_speed = n_notches != 0.0 && self.mode == Mode::Fly;
        match self.mode {
            Mode::Orbit if n_notches != 0.0 => camera.dolly(n_notches),
            Mode::Fly if changes_speed => camera.change_speed(n_notches),
            _ => {}
        }
        let push = self.push();
        if push.is_any() {
            camera.fly(push, elapsed_s);
        }
        changes_speed
    }

    fn push(&self) -> Push {
        let is_held = |key| self.held.contains(&key);
        let axis = |plus, minus| f32::from(is_held(plus)) - f32::from(is_held(minus));
        Push {
            right: axis(KeyCode::KeyD, KeyCode::KeyA),
            up: axis(KeyCode::KeyE, KeyCode::KeyQ),
            forward: axis(KeyCode::KeyW, KeyCode::KeyS),
            is_fast: is_held(KeyCode::ShiftLeft) || is_held(KeyCode::ShiftRight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::content::Content;
    use super::*;
    use glam::Vec3;
    use praxis::scene::assets::Aabb;
    use praxis::scene::camera::looking_at;
    use praxis::scene::{CameraView, Projection};

    fn camera() -> ViewerCamera {
        let view = CameraView {
            world_from_view: looking_at(Vec3::new(0.0, 0.0, 5.0), Vec3::ZERO),
            projection: Projection::Perspective { fov_y: 0.8, near: 0.1 },
        };
        ViewerCamera::new(&view, &Content::from_boxes([Aabb { min: Vec3::NEG_ONE, max: Vec3::ONE }]))
    }

    fn drag(controls: &mut Controls, button: MouseButton) {
        controls.cursor_moved(Vec2::new(10.0, 10.0));
        controls.button(button, true);
        controls.cursor_moved(Vec2::new(30.0, 10.0));
        controls.button(button, false);
        controls.cursor_moved(Vec2::new(90.0, 90.0));
    }

    #[test]
    fn window_drags_count_while_a_button_is_held_only() {
        let mut controls = Controls::default();
        controls.cursor_moved(Vec2::new(500.0, 500.0));
        assert!(!controls.has_moves());
        drag(&mut controls, MouseButton::Left);
        assert_eq!(
            (controls.orbit_px, controls.pan_px, controls.look_px),
            (Vec2::new(20.0, 0.0), Vec2::ZERO, Vec2::ZERO)
        );
        drag(&mut controls, MouseButton::Right);
        assert_eq!((controls.pan_px, controls.look_px), (Vec2::new(20.0, 0.0), Vec2::ZERO));
        assert!(controls.has_moves());
        controls.apply(&mut camera(), 0.1, 720.0);
        assert!(!controls.has_moves(), "each move counts once");
    }

    #[test]
    fn window_fly_keys_start_flying_and_a_left_drag_ends_it() {
        let mut controls = Controls::default();
        assert_eq!(controls.key(KeyCode::KeyW, true, false), None);
        assert_eq!(controls.mode(), Mode::Fly);
        drag(&mut controls, MouseButton::Right);
        assert_eq!((controls.pan_px, controls.look_px), (Vec2::ZERO, Vec2::new(20.0, 0.0)));
        let mut camera = camera();
        let before = camera.view().world_from_view.translation;
        controls.apply(&mut camera, 0.5, 720.0);
        assert!(camera.view().world_from_view.translation.z < before.z);
        controls.key(KeyCode::KeyW, false, false);
        assert!(!controls.has_moves());
        controls.button(MouseButton::Left, true);
        assert_eq!(controls.mode(), Mode::Orbit);
    }

    #[test]
    fn window_wheel_dollies_in_orbit_and_changes_speed_in_flight() {
        let (mut controls, mut camera) = (Controls::default(), camera());
        let (start, speed) = (camera.view().world_from_view.translation, camera.speed());
        controls.wheel(1.0);
        assert!(!controls.apply(&mut camera, 0.1, 720.0));
        assert!(camera.view().world_from_view.translation.z < start.z && camera.speed() == speed);
        controls.set_looking(true);
        controls.wheel(1.0);
        controls.wheel(f32::NAN);
        let place = camera.view().world_from_view.translation;
        assert!(controls.apply(&mut camera, 0.1, 720.0));
        assert!(camera.speed() > speed && camera.view().world_from_view.translation == place);
    }

    #[test]
    fn window_mouse_look_takes_the_mouse_and_not_the_cursor() {
        let mut controls = Controls::default();
        controls.mouse_moved(Vec2::ONE);
        assert!(!controls.has_moves());
        controls.set_looking(true);
        drag(&mut controls, MouseButton::Left);
        assert!(!controls.has_moves());
        controls.mouse_moved(Vec2::ONE);
        assert_eq!(controls.look_px, Vec2::ONE);
    }

    #[test]
    fn window_clicks_are_presses_without_a_drag() {
        let mut controls = Controls::default();
        drag(&mut controls, MouseButton::Left);
        assert_eq!(controls.take_click(), None, "a drag");
        controls.button(MouseButton::Left, true);
        controls.cursor_moved(Vec2::new(91.0, 91.0));
        controls.button(MouseButton::Left, false);
        assert_eq!(controls.take_click(), Some(Vec2::new(91.0, 91.0)));
        assert_eq!(controls.take_click(), None, "each click counts once");
        controls.button(MouseButton::Right, true);
        controls.button(MouseButton::Right, false);
        controls.set_looking(true);
        controls.button(MouseButton::Left, true);
        controls.button(MouseButton::Left, false);
        assert_eq!(controls.take_click(), None, "another button, and while the mouse turns the view");
    }

    #[test]
    fn window_number_keys_choose_cameras() {
        let mut controls = Controls::default();
        assert_eq!(controls.key(KeyCode::Digit1, true, false), Some(Command::Camera(0)));
        assert_eq!(controls.key(KeyCode::Digit9, true, false), Some(Command::Camera(8)));
        assert_eq!(controls.key(KeyCode::Digit0, true, false), None);
    }

    #[test]
    fn window_held_keys_end_with_the_focus_and_repeats_do_not_toggle() {
        let mut controls = Controls::default();
        assert_eq!(controls.key(KeyCode::F3, true, false), Some(Command::ToggleStats));
        assert_eq!(controls.key(KeyCode::F3, true, true), None);
        assert_eq!(controls.key(KeyCode::Period, true, true), Some(Command::Step), "holding steps on");
        controls.key(KeyCode::AltLeft, true, false);
        assert_eq!(controls.key(KeyCode::Tab, true, false), None, "Alt and Tab is the system's");
        controls.key(KeyCode::AltLeft, false, false);
        assert_eq!(controls.key(KeyCode::Tab, true, false), Some(Command::ToggleLook));
        controls.key(KeyCode::KeyD, true, false);
        assert!(controls.push().is_any());
        controls.key(KeyCode::KeyA, true, false);
        assert!(!controls.push().is_any(), "against each other");
        controls.release_all();
        assert!(!controls.push().is_any() && controls.held.is_empty());
    }
}
