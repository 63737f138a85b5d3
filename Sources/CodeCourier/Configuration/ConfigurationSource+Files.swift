// SPDX-License-Identifier: Apache-2.0

import Providers

extension ConfigurationSource {
    /// The path of a PEM file with certificate authorities, checked to be readable and valid.
    func authorities(_ key: SettingKey) -> String? {
        guard let setting = setting(key) else { return nil }
        let path = resolve(setting.text, at: setting.origin)
        do throws(TextFile.Unreadable) {
            let text = try TextFile.read(path, maximumBytes: 4_194_304)
            if CertificateText.isWhole(text) { return path }
            report(key, at: setting.origin, "must name a file with certificates in PEM, each of them whole")
        } catch {
            reportUnreadable(key, setting, error)
        }
        return nil
    }
}
