pub struct BlockedTime;
impl BlockedTime {
    pub fn start() -> Self {
        Self
    }
    pub fn end_ns(self) -> Option<u64> {
        None
    }
}
pub struct DeviceWaiter {
    device: wgpu::Device,
    wait: crate::pacing::FrameWait,
}
impl DeviceWaiter {
    pub fn new(device: &wgpu::Device, wait: crate::pacing::FrameWait) -> Self {
        Self { device: device.clone(), wait }
    }
}
impl crate::pacing::SubmissionWaiter<wgpu::SubmissionIndex> for DeviceWaiter {
    type Error = crate::pacing::WaitError;
    fn wait(&mut self, s: &wgpu::SubmissionIndex) -> Result<(), Self::Error> {
        crate::pacing::DeviceWaiter::new(&self.device, self.wait).wait(s)
    }
}
