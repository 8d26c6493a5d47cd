//! A display that nobody sees.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// An X server without a screen, ended when dropped.
pub struct VirtualDisplay {
    server: Child,
    /// As in `DISPLAY`.
    pub name: String,
}

impl VirtualDisplay {
    /// `None` where Xvfb is not installed.
    pub fn start() -> Option<Self> {
        Self::with_screen("1280x1024")
    }

    /// With a screen of `size`; `None` where Xvfb is not installed.
    pub fn with_screen(size: &str) -> Option<Self> {
        // The server takes the first free display number and writes it to the descriptor given: its stdout.
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", &format!("{size}x24"), "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut display = Self { server, name: String::new() };
        let stdout = display.server.stdout.take().expect("piped");
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line);
            let _ = sender.send(line);
        });
        let line = receiver.recv_timeout(Duration::from_secs(20)).expect("Xvfb says which display it serves");
        display.name = format!(":{}", line.trim());
        assert!(display.name.len() > 1, "Xvfb ended at once");
        Some(display)
    }
}

impl Drop for VirtualDisplay {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
